//go:build !race

package bloom_test

import (
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/wire"
)

// A container of 1000 keys opens in four allocations: the filter twice, the lists of its state, and its cells.
func TestOpenAllocates(t *testing.T) {
	f := fixture.Must(bloom.New(1000, 0.01))
	for _, keys := range []uint64{0, 1000} {
		for i := range keys {
			umbel.AddKey(f, i)
		}
		b := fixture.Must(f.MarshalBinary())
		unmarshal := func() error { return new(bloom.Filter).UnmarshalBinary(b) }
		open := func() error {
			s, err := wire.Parse(b, wire.Limits{})
			if err == nil {
				_, err = bloom.Open(s)
			}
			return err
		}
		for most, f := range map[float64]func() error{4: unmarshal, 3: open} {
			if got := testing.AllocsPerRun(100, func() {
				if err := f(); err != nil {
					t.Fatal(err)
				}
			}); got > most {
				t.Errorf("%d keys: %v allocations, want at most %v", keys, got, most)
			}
		}
	}
}

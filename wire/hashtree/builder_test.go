package hashtree_test

import (
	"bytes"
	"io"
	"testing"

	"pgregory.net/rapid"

	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/hashtree"
	"github.com/umbel-filters/umbel/wire/internal/wiretest"
)

// A Builder returns the ID of the state whose blocks it gets: all of them, and also without those that are zero.
func TestBuilder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := wiretest.DrawState(t, 3)
		want := hashtree.Identify(s)
		b := fixture.Must(wire.Packer{}.Append(nil, s))
		var read, written hashtree.Builder
		bare := s
		for next, err := range wire.ReadBlocks(bytes.NewReader(b), wire.Limits{}, &bare) {
			if err != nil {
				t.Fatal(err)
			}
			read.Add(next)
		}
		if got := read.ID(bare); got != want || read.ID(bare) != want {
			t.Errorf("of ReadBlocks: %v, want %v", got, want)
		}
		all := s.AllArrays()
		for next, err := range (wire.Packer{}).WriteBlocks(io.Discard, bare) {
			if err != nil {
				t.Fatal(err)
			}
			copy(next.Cells.Words, all[next.Array].Words[next.First*uint64(next.Cells.Width)/64:])
			written.Add(next)
		}
		if got := written.ID(bare); got != want {
			t.Errorf("of WriteBlocks: %v, want %v", got, want)
		}
	})
}

// A gap of whole and partial leaves at the end of an array counts as zeros.
func TestBuilderGaps(t *testing.T) {
	for _, n := range []uint64{1, 64, 8192, 8193, 1 << 19, 1<<19 + 1, 1<<20 + 777} {
		for _, at := range []uint64{0, n / 2, n - 1} {
			s := wiretest.Sample(t)
			a := fixture.Must(cells.New(n, 1))
			a.SetBit(at)
			s.Arrays = append(s.Arrays, a, cells.Array{Width: 8})
			var b hashtree.Builder
			for next, err := range wire.ReadBlocks(bytes.NewReader(fixture.Must(wire.Append(nil, s))), wire.Limits{}, nil) {
				if err != nil {
					t.Fatal(err)
				}
				b.Add(next)
			}
			if got, want := b.ID(s), hashtree.Identify(s); got != want {
				t.Errorf("%d cells, cell %d is set: %v, want %v", n, at, got, want)
			}
		}
	}
}

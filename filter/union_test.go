package filter_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/union"
	"github.com/umbel-filters/umbel/filter/weighted"
	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/wire"
)

// A filter of every kind except weighted and weighted-counting may be a member of a union, next to a Bloom filter of
// another size. The union survives a container and is queried in batches as key by key.
func TestUnionOfEveryKind(t *testing.T) {
	for i, v := range filter.All {
		if v.Name == union.Name {
			continue
		}
		seed := uint64(10 + i)
		member, err := v.New(umbel.Goal{Keys: 3000, FPRate: 0.01}, nil)
		if err != nil {
			t.Fatal(err)
		}
		umbel.AddAll(member, nil, fixture.Digests(seed, 3000))
		other := fixture.Filled(fixture.Must(bloom.New(2000, 0.01)), fixture.Digests(1, 2000))
		for _, pair := range [][]umbel.Filter{{member, other}, {other, member}} {
			u, err := union.Of(pair[0].State(), pair[1].State())
			if v.Name == weighted.Name || v.Name == weighted.CountingKind.Name {
				if !errors.Is(err, umbel.ErrMismatch) {
					t.Errorf("%s as a member: %v, want an error that wraps %q", v.Name, err, umbel.ErrMismatch)
				}
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", v.Name, err)
			}
			b, err := wire.Append(nil, u.State())
			if err != nil {
				t.Fatal(err)
			}
			s, err := wire.Parse(b, wire.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			f, err := filter.All.Open(s)
			if err != nil {
				t.Fatalf("%s: %v", v.Name, err)
			}
			for i, d := range slices.Concat(fixture.Digests(seed, 3000), fixture.Digests(1, 2000)) {
				if !f.Has(d) {
					t.Fatalf("%s: Has is false for key %d: a false negative", v.Name, i)
				}
			}
			ds := slices.Concat(fixture.Digests(seed, 500), fixture.Digests(2, 500), fixture.Digests(1, 500), fixture.Digests(3, 500))
			for i := range ds { // runs of different lengths
				j := i * i % len(ds)
				ds[i], ds[j] = ds[j], ds[i]
			}
			got := make([]bool, len(ds))
			umbel.HasAll(f, got, ds)
			for i, d := range ds {
				if got[i] != f.Has(d) {
					t.Fatalf("%s: HasAll is %v for digest %d, Has %v", v.Name, got[i], i, f.Has(d))
				}
			}
		}
	}
}

package filter_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/sparse"
	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/wire"
)

// sparseSizes are sizes m for n keys: whole words and others, sparse and full.
var sparseSizes = []struct{ m, n uint64 }{
	{1, 1}, {20, 3}, {63, 100}, {64, 1}, {64 * 7, 50}, {64 * 7, 5000}, {99991, 1000},
	{64 * 1500, 1000}, {64 * 100_000, 50_000}, {64 * 100_000, 0}, {1 << 30, 300},
}

// TestSparseIsBloom: a sparse filter equals the Bloom filter of the same size with k = 1. Each
// can be converted to the other, bit for bit, as a state and as a container with any coding.
// Folds and unions of both are equal.
func TestSparseIsBloom(t *testing.T) {
	for _, c := range sparseSizes {
		t.Run(fmt.Sprintf("m=%d,n=%d", c.m, c.n), func(t *testing.T) {
			group := uint8(0)
			if c.m%64 == 0 {
				group = 6
			}
			h := umbel.Hasher{Alg: umbel.SipHash, Seed: fixture.Seed(3, 4)}
			b, err := bloom.NewShape(bloom.Shape{M: c.m, K: 1, Group: group, Hasher: h})
			if err != nil {
				t.Fatal(err)
			}
			s, err := sparse.NewShape(sparse.Shape{M: c.m, Group: group, Hasher: h})
			if err != nil {
				t.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(c.m, c.n))
			for range c.n {
				d := umbel.Digest{H1: rng.Uint64(), H2: rng.Uint64()}
				if x, y := b.Add(d), s.Add(d); x != y {
					t.Fatalf("Add is %v, want %v", y, x)
				}
			}
			for range 2000 {
				d := umbel.Digest{H1: rng.Uint64(), H2: rng.Uint64()}
				if x, y := b.Has(d), s.Has(d); x != y {
					t.Fatalf("Has is %v, want %v", y, x)
				}
			}
			wantSame(t, s, b, "with the same keys")
			for _, r := range []uint64{2, 3, 7} {
				errB, errS := b.Fold(r), s.Fold(r)
				if (errB == nil) != (errS == nil) {
					t.Fatalf("Fold(%d) gives the error %v, want %v", r, errS, errB)
				}
				wantSame(t, s, b, "folded")
			}
			if c.m < 1<<20 {
				if err := b.Unfold(6); err != nil {
					t.Fatal(err)
				}
				if err := s.Unfold(6); err != nil {
					t.Fatal(err)
				}
				wantSame(t, s, b, "unfolded")
			}
		})
	}
}

// wantSame fails unless s and b can be converted to each other.
func wantSame(t *testing.T, s *sparse.Filter, b *bloom.Filter, what string) {
	t.Helper()
	full, err := s.Bloom()
	if err != nil {
		t.Fatal(err)
	}
	if !equal(full, b.State()) {
		t.Fatalf("%s: the sparse filter as bloom has another state", what)
	}
	from, err := sparse.FromBloom(b.State())
	if err != nil {
		t.Fatal(err)
	}
	if !equal(from.State(), s.State()) {
		t.Fatalf("%s: the bloom filter as sparse has another state", what)
	}
	plain, err := wire.Append(nil, b.State())
	if err != nil {
		t.Fatal(err)
	}
	packed, err := wire.Packer{}.Append(nil, b.State())
	if err != nil {
		t.Fatal(err)
	}
	var written bytes.Buffer
	if err := s.WriteBloom(&written, wire.Packer{}); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(written.Bytes(), packed) {
		t.Fatalf("%s: WriteBloom writes other bytes than a Packer of the bloom filter", what)
	}
	for coding, container := range map[string][]byte{"plain": plain, "packed": packed} {
		read, err := sparse.Read(bytes.NewReader(container), wire.Limits{})
		if err != nil {
			t.Fatalf("%s, %s: %v", what, coding, err)
		}
		if !equal(read.State(), s.State()) {
			t.Fatalf("%s: a %s container gives another state", what, coding)
		}
	}
	if x, y := s.Stats(), b.Stats(); x.Keys != y.Keys || x.Fill != y.Fill || x.FPRate != y.FPRate || x.Cells != y.Cells {
		t.Fatalf("%s: stats %+v, want the keys, fill and rate of %+v", what, x, y)
	}
}

// equal reports whether two states are equal.
func equal(a, b umbel.State) bool {
	return a.Kind == b.Kind && a.Hasher == b.Hasher && slices.Equal(a.Params, b.Params) &&
		slices.EqualFunc(a.Arrays, b.Arrays, cells.Array.Equal)
}

// TestSparsePlanIsBloom: for keys and a rate, the plan has the size of the Bloom filter with k =
// 1.
func TestSparsePlanIsBloom(t *testing.T) {
	for _, g := range []umbel.Goal{{Keys: 5000, FPRate: 0.003}, {Keys: 1e6, FPRate: 0.01}, {Keys: 3, FPRate: 0.1}} {
		s, err := sparse.Plan(g)
		if err != nil {
			t.Fatal(err)
		}
		b, err := bloom.Kind.Plan(g, umbel.Params{{Name: "k", Value: umbel.Uint(1)}})
		if err != nil {
			t.Fatal(err)
		}
		if s.M != b.Cells {
			t.Errorf("%+v: %d cells, want %d", g, s.M, b.Cells)
		}
	}
}

// TestSparseMergesBloom: Merge with a Bloom filter gives the union of both as Bloom filters, for
// equal and unequal sizes.
func TestSparseMergesBloom(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, sizes := range [][2]uint64{{6400, 6400}, {6400, 3200}, {64 * 30, 64 * 20}, {100, 50}} {
		group := uint8(0)
		if sizes[0]%64 == 0 {
			group = 6
		}
		a, err := bloom.NewShape(bloom.Shape{M: sizes[0], K: 1, Group: group})
		if err != nil {
			t.Fatal(err)
		}
		b, err := bloom.NewShape(bloom.Shape{M: sizes[1], K: 1, Group: group})
		if err != nil {
			t.Fatal(err)
		}
		for range 30 {
			a.Add(umbel.Digest{H1: rng.Uint64(), H2: rng.Uint64()})
			b.Add(umbel.Digest{H1: rng.Uint64(), H2: rng.Uint64()})
		}
		s, err := sparse.FromBloom(a.State())
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Merge(b.State()); err != nil {
			t.Fatal(err)
		}
		if err := a.Merge(b.State()); err != nil {
			t.Fatal(err)
		}
		wantSame(t, s, a, "united")
	}
}

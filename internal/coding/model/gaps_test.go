package model

import (
	"errors"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/coding/entropy"
)

// someOf returns x numbers below n.
func someOf(r *rand.Rand, x int, n uint64) entropy.Sparse {
	seen := map[uint64]bool{}
	for len(seen) < x {
		seen[r.Uint64N(n)] = true
	}
	s := entropy.Sparse{Len: n}
	for at := range seen {
		s.Ones = append(s.Ones, at)
	}
	slices.Sort(s.Ones)
	return s
}

// Lists by gaps decode to the changes that they were made of, in arrays of any fill, and are at most 14 bytes longer than
// log2 of the number of choices of both lists.
func TestGapLists(t *testing.T) {
	r := rand.New(rand.NewPCG(138, 1))
	choices := func(n uint64, x int) float64 {
		a, _ := math.Lgamma(float64(n) + 1)
		b, _ := math.Lgamma(float64(x) + 1)
		c, _ := math.Lgamma(float64(n) - float64(x) + 1)
		return (a - b - c) / math.Ln2
	}
	var m Modeler
	for range 60 {
		a := cells.Array{Len: 1 + r.Uint64N(2_000_000), Width: 1}
		a.Words = make([]uint64, wordsFor(a.Len))
		for range r.Uint64N(a.Len) {
			a.SetBit(r.Uint64N(a.Len))
		}
		ones := a.Nonzero()
		gone := someOf(r, r.IntN(1+int(ones/uint64(1+r.IntN(1000)))), max(ones, 1))
		come := someOf(r, r.IntN(1+int((a.Len-ones)/uint64(1+r.IntN(1000)))), max(a.Len-ones, 1))
		gone.Len, come.Len = ones, a.Len-ones
		if len(gone.Ones)+len(come.Ones) == 0 {
			continue
		}
		b := m.AppendGapLists(nil, gone, come)
		if least := (choices(gone.Len, len(gone.Ones)) + choices(come.Len, len(come.Ones))) / 8; len(b) == 0 || float64(len(b)) > least*1.001+14 {
			t.Fatalf("%d of %d and %d of %d: %d bytes, at least %.1f", len(gone.Ones), gone.Len, len(come.Ones), come.Len, len(b), least)
		}
		got := a.Clone()
		if err := m.DecodeGapLists(b, got); err != nil {
			t.Fatal(err)
		}
		changes := 0
		for i, w := range got.Words {
			changes += bits.OnesCount64(w ^ a.Words[i])
		}
		// The changed bits have their numbers among the ones and zeros.
		var was [2]entropy.Sparse
		seen := [2]uint64{}
		for i := range a.Len {
			v := a.Get(i)
			if got.Get(i) != v {
				was[v].Ones = append(was[v].Ones, seen[v])
			}
			seen[v]++
		}
		if changes != len(gone.Ones)+len(come.Ones) || !slices.Equal(was[1].Ones, gone.Ones) || !slices.Equal(was[0].Ones, come.Ones) {
			t.Fatal("other changes")
		}
		for range 20 {
			bad := slices.Clone(b)
			bad[r.IntN(len(bad))] ^= 1 << r.IntN(8)
			if err := m.DecodeGapLists(bad[:r.IntN(len(bad)+1)], a.Clone()); err != nil && !errors.Is(err, ErrCorrupt) {
				t.Fatal(err)
			}
		}
	}
}

func FuzzDecodeGapLists(f *testing.F) {
	f.Fuzz(func(t *testing.T, src []byte, n uint32, seed uint64) {
		var m Modeler
		a := cells.Array{Len: 1 + uint64(n)%(1<<20), Width: 1}
		a.Words = make([]uint64, wordsFor(a.Len))
		for _, at := range someOf(rand.New(rand.NewPCG(seed, 0)), int(a.Len/10), a.Len).Ones {
			a.SetBit(at)
		}
		got := a.Clone()
		switch err := m.DecodeGapLists(src, got); {
		case err != nil && !errors.Is(err, ErrCorrupt):
			t.Fatalf("error without sentinel: %v", err)
		case err == nil && (got.Equal(a) || got.Check() != nil):
			t.Fatal("nothing changes, or bits beyond the end do")
		}
	})
}

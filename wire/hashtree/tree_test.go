package hashtree_test

import (
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/wire/hashtree"
	"github.com/umbel-filters/umbel/wire/internal/wiretest"
	"pgregory.net/rapid"
)

// drawFlips changes some cells of s, and returns the changed leaves of each array.
func drawFlips(t *rapid.T, s umbel.State) []map[uint64]bool {
	arrays := s.AllArrays()
	leaves := make([]map[uint64]bool, len(arrays))
	for i, a := range arrays {
		leaves[i] = make(map[uint64]bool)
		if a.Len == 0 {
			continue
		}
		for range rapid.SampledFrom([]int{0, 1, 3, 200}).Draw(t, "changes") {
			c := rapid.Uint64Range(0, a.Len-1).Draw(t, "cell")
			a.Put(c, a.Get(c)^1)
			leaves[i][c*uint64(a.Width)/(8*hashtree.LeafBytes)] = true
		}
	}
	return leaves
}

// A tree after changes is that of the changed state, regardless of what the states have in common.
func TestTree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := wiretest.DrawState(t, umbel.MaxDepth)
		workers := rapid.IntRange(0, 3).Draw(t, "workers")
		tree := hashtree.New(s, workers)
		first, origin, clone := tree.ID(), s.Clone(), tree.Clone()
		check := func(what string, s umbel.State) {
			if want := hashtree.Identify(s); tree.ID() != want {
				t.Fatalf("%s: ID %v, want %v", what, tree.ID(), want)
			}
			if got, want := tree.Bytes(), hashtree.New(s, 1).Bytes(); got != want {
				t.Fatalf("%s: %d bytes of hashes, want %d", what, got, want)
			}
		}
		check("a new tree", s)
		for range 3 {
			changed := s.Clone()
			leaves := drawFlips(t, changed)
			for i := range changed.Params {
				changed.Params[i].Value = umbel.Uint(rapid.Uint64().Draw(t, "param"))
			}
			tree.UpdateLeaves(changed, func(array int) iter.Seq[uint64] {
				if len(leaves[array]) == 0 {
					return nil
				}
				return slices.Values(slices.Sorted(maps.Keys(leaves[array])))
			})
			check("UpdateLeaves", changed)
			s = changed.Clone()
			drawFlips(t, s)
			tree.Update(changed, s, workers)
			check("Update", s)
		}
		other := s.Clone()
		switch rapid.IntRange(0, 4).Draw(t, "shape") {
		case 0:
			other.Arrays = append(other.Arrays, wiretest.DrawArray(t))
		case 1:
			other.Arrays = slices.Insert(other.Arrays, 0, wiretest.DrawArray(t))
		case 2:
			other.Arrays = other.Arrays[:len(other.Arrays)/2]
		case 3:
			other = wiretest.DrawState(t, umbel.MaxDepth)
		case 4:
			other.Parts = append(other.Parts, umbel.State{Kind: "part", Arrays: s.Arrays})
		}
		tree.Update(s, other, workers)
		check("Update to another shape", other)
		if clone.ID() != first {
			t.Fatal("changing a tree changed its clone")
		}
		tree = clone
		tree.Update(origin, other, workers)
		check("Update of a clone", other)
	})
}

// A tree refuses states that it isn't the tree of.
func TestTreeShape(t *testing.T) {
	a := umbel.State{Kind: "x", Arrays: []cells.Array{wiretest.Array(t, 129, 64, wiretest.Noise)}}
	longer := umbel.State{Kind: "x", Arrays: []cells.Array{wiretest.Array(t, 257, 64, wiretest.Noise)}}
	none := func(int) iter.Seq[uint64] { return nil }
	beyond := func(int) iter.Seq[uint64] { return slices.Values([]uint64{2}) }
	for what, f := range map[string]func(){
		"no state":                 func() { hashtree.New(umbel.State{}, 1) },
		"no array before":          func() { hashtree.New(a, 1).Update(umbel.State{}, a, 1) },
		"a longer array before":    func() { hashtree.New(a, 1).Update(longer, a, 1) },
		"longer than before":       func() { hashtree.New(a, 1).UpdateLeaves(longer, none) },
		"a leaf beyond the last":   func() { hashtree.New(a, 1).UpdateLeaves(a, beyond) },
		"fewer arrays than before": func() { hashtree.New(a, 1).UpdateLeaves(umbel.State{Kind: "x"}, none) },
	} {
		t.Run(what, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("the tree accepts it")
				}
			}()
			f()
		})
	}
	if got := hashtree.New(a, 1).Bytes(); got != 3*32 {
		t.Errorf("a tree of 2 leaves takes %d bytes, want 96", got)
	}
}

func BenchmarkTree(b *testing.B) {
	const size = 64 << 20
	s := umbel.State{Kind: "bench", Arrays: []cells.Array{wiretest.Array(b, size*8, 1, wiretest.Noise)}}
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("new/workers=%d/n=64MiB", workers), func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				hashtree.New(s, workers)
			}
		})
	}
	rng := rand.New(rand.NewPCG(1, 2))
	other := s.Clone()
	leaves := make(map[uint64]bool)
	for range 10_000 {
		i := rng.Uint64N(size * 8)
		other.Arrays[0].Words[i/64] ^= 1 << (i % 64)
		leaves[i/(8*hashtree.LeafBytes)] = true
	}
	changed := slices.Sorted(maps.Keys(leaves))
	tree := hashtree.New(s, 1)
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("update/bits=10000,workers=%d/n=64MiB", workers), func(b *testing.B) {
			b.SetBytes(size)
			from, to := s, other
			for b.Loop() {
				tree.Update(from, to, workers)
				from, to = to, from
			}
			tree.Update(from, s, 1)
		})
	}
	b.Run("leaves/bits=10000/n=64MiB", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			tree.UpdateLeaves(other, func(int) iter.Seq[uint64] { return slices.Values(changed) })
		}
	})
	b.Run("leaves/bits=1/n=64MiB", func(b *testing.B) {
		for b.Loop() {
			tree.UpdateLeaves(s, func(int) iter.Seq[uint64] { return slices.Values(changed[:1]) })
		}
	})
}

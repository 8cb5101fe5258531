package delta

import (
	"bytes"
	"errors"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// bitsOf returns the bits of all arrays of a state, one array after the other.
func bitsOf(s umbel.State) (set []bool) {
	for _, a := range s.AllArrays() {
		for i := range 64 * len(a.Words) {
			set = append(set, a.Words[i/64]>>(i%64)&1 == 1)
		}
	}
	return set
}

// symmetric returns the bits that are set in one of two states.
func symmetric(a, b []bool) []bool {
	differ := slices.Clone(a)
	for i, x := range b {
		differ[i] = x != a[i]
	}
	return differ
}

// flipped returns the bits that c flips.
func flipped(shape umbel.State, c Changes) []bool {
	zero := shape.Clone()
	for _, a := range zero.AllArrays() {
		a.Clear()
	}
	c.Apply(zero)
	return bitsOf(zero)
}

// Changes behave as sets of bits: comparing states returns the bits that differ, merging is the symmetric
// difference, applying leads from either state to the other, and the encoding is read as it was.
func TestChangesAreSets(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range trials(60) {
		states := []umbel.State{smallState(t, rng)}
		var steps []Changes
		for i := range 4 {
			next := changed(rng, states[i])
			c, ok := Compare(states[i], next, nil)
			if !ok {
				t.Fatal("the states have another shape")
			}
			if !slices.Equal(flipped(next, c), symmetric(bitsOf(states[i]), bitsOf(next))) {
				t.Fatal("the changes are not the bits that differ")
			}
			wantEncoding(t, next, c)
			wantLeaves(t, next, c)
			states, steps = append(states, next), append(steps, c)
		}
		whole, _ := Compare(states[0], states[4], nil)
		want := whole.Append(nil)
		for i, merged := range []Changes{
			Merge(steps...),
			Merge(Merge(steps[:3]...), steps[3]),
			Merge(steps[0], Merge(steps[1:]...)),
			Merge(Merge(steps[3], steps[1]), Merge(steps[2], steps[0])),
			Merge(append(steps, Changes{}, steps[2], steps[2])...),
		} {
			if !bytes.Equal(merged.Append(nil), want) {
				t.Fatalf("changes that are merged in order %d are others", i)
			}
		}
		if c := Merge(whole, whole); c.Bytes() != 0 {
			t.Fatalf("changes and the same changes have %d bytes together", c.Bytes())
		}
		for _, way := range [][2]int{{0, 4}, {4, 0}} {
			s := states[way[0]].Clone()
			whole.Apply(s)
			if !slices.EqualFunc(s.AllArrays(), states[way[1]].AllArrays(), cells.Array.Equal) {
				t.Fatalf("the changes from state %d to %d lead to another one", way[0], way[1])
			}
		}
	}
}

// smallState returns a state of few words, so that changes of several steps meet.
func smallState(t *testing.T, rng *rand.Rand) umbel.State {
	length := func() uint64 { return rng.Uint64N(1 << (5 + rng.IntN(11))) }
	return umbel.State{
		Kind: "x", Arrays: []cells.Array{randomArray(t, rng, length(), 1), randomArray(t, rng, length(), 1<<rng.IntN(7))},
		Parts: []umbel.State{{Kind: "y", Arrays: []cells.Array{randomArray(t, rng, length(), 2)}}, {Kind: "z"}},
	}
}

// wantEncoding fails unless the encoding of c is read as c, whatever follows.
func wantEncoding(t *testing.T, shape umbel.State, c Changes) {
	t.Helper()
	b := c.Append([]byte("before"))[len("before"):]
	got, rest, err := ParseChanges(append(slices.Clone(b), "after"...), shape)
	if err != nil || string(rest) != "after" || !bytes.Equal(got.Append(nil), b) || got.Bytes() != c.Bytes() {
		t.Fatalf("%d bytes are read as %d, %q follows: %v", c.Bytes(), got.Bytes(), rest, err)
	}
}

// wantLeaves fails unless c has the leaves of the bits that it flips.
func wantLeaves(t *testing.T, shape umbel.State, c Changes) {
	t.Helper()
	bits := flipped(shape, c)
	for i, a := range shape.AllArrays() {
		var want, got []uint64
		for leaf := 0; leaf*leafWords < len(a.Words); leaf++ {
			n := 64 * min(leafWords, len(a.Words)-leaf*leafWords)
			if slices.Contains(bits[:n], true) {
				want = append(want, uint64(leaf))
			}
			bits = bits[n:]
		}
		if leaves := c.Leaves(i); leaves != nil {
			got = slices.Compact(slices.Collect(leaves))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("leaves %v, want %v", got, want)
		}
	}
}

// If changed words are listed, no others are compared. States of another shape have no changes.
func TestCompareListed(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range trials(60) {
		base := smallState(t, rng)
		result := changed(rng, base)
		lists := make([][]uint64, 3)
		want := base.Clone()
		for i, a := range result.AllArrays() {
			for w := range a.Words {
				if rng.IntN(3) == 0 {
					lists[i] = append(lists[i], uint64(w))
					want.AllArrays()[i].Words[w] = a.Words[w]
				}
			}
		}
		c, ok := Compare(base, result, func(array int) iter.Seq[uint64] {
			if len(lists[array]) == 0 {
				return nil
			}
			return slices.Values(lists[array])
		})
		if got := base.Clone(); !ok {
			t.Fatal("the states have another shape")
		} else if c.Apply(got); !got.Equal(want) {
			t.Fatal("other words than those in the list are compared")
		}
	}
	s := smallState(t, rng)
	for name, change := range map[string]func(*umbel.State){
		"an array less":   func(s *umbel.State) { s.Arrays = s.Arrays[1:] },
		"a cell more":     func(s *umbel.State) { s.Arrays[0].Len++ },
		"another width":   func(s *umbel.State) { s.Arrays[0].Width = 64 },
		"a part less":     func(s *umbel.State) { s.Parts = s.Parts[1:] },
		"another kind":    func(s *umbel.State) { s.Kind = "other" },
		"another hasher":  func(s *umbel.State) { s.Hasher.Seed = fixture.Seed(1, 0) },
		"in another part": func(s *umbel.State) { s.Parts[0].Arrays, s.Parts[1].Arrays = nil, s.Parts[0].Arrays },
	} {
		other := s.Clone()
		change(&other)
		if _, ok := Compare(s, other, nil); ok {
			t.Errorf("%s: the states have changes", name)
		}
	}
}

// The encoding is fixed: the notes of publishers contain it.
func TestChangesEncoding(t *testing.T) {
	s := umbel.State{Kind: "x", Arrays: []cells.Array{{Len: 64 * 400, Width: 1, Words: make([]uint64, 400)}, {Len: 100, Width: 1, Words: make([]uint64, 2)}}}
	changes := s.Clone()
	w := changes.Arrays[0].Words
	w[3], w[4], w[203], w[204], w[399] = 1<<5, 1<<63|1, 0x7f, 0xff, ^uint64(0)
	c, _ := Compare(s, changes, nil)
	want := []byte{
		37,
		3, 5,
		0, 64 + 2, 0, 63,
		0xc6, 0x01, 64 + 7, 0, 1, 2, 3, 4, 5, 6,
		0, 72, 0xff, 0, 0, 0, 0, 0, 0, 0,
		0xc2, 0x01, 72, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		0,
	}
	if got := c.Append(nil); !bytes.Equal(got, want) {
		t.Errorf("% x, want % x", got, want)
	}
	for name, b := range map[string][]byte{
		"nothing":               {},
		"an array is missing":   {0},
		"cut off":               {2, 3},
		"no mask":               {1, 3, 0},
		"a word too many":       {3, 0x90, 3, 1, 0},
		"a long number":         {3, 0x83, 0, 1, 0},
		"a long length":         {0x80, 0, 0},
		"one of many bits":      {3, 0, 65, 1, 0},
		"an unknown mask":       {10, 0, 73, 0, 1, 2, 3, 4, 5, 6, 7, 0},
		"a bit twice":           {4, 0, 66, 1, 1, 0},
		"a bit beyond the word": {4, 0, 66, 1, 64, 0},
		"beyond the last cell":  {0, 2, 1, 36},
		"no bit":                {10, 0, 72, 0, 0, 0, 0, 0, 0, 0, 0, 0},
	} {
		if c, _, err := ParseChanges(b, s); !errors.Is(err, umbel.ErrCorrupt) || c.arrays != nil {
			t.Errorf("%s: %v, %v", name, c, err)
		}
	}
}

// FuzzChanges reads changes of one state: they are refused, or change it to a state that passes its check.
func FuzzChanges(f *testing.F) {
	s := umbel.State{Kind: "x", Arrays: []cells.Array{
		{Len: 1000, Width: 1, Words: make([]uint64, 16)}, {Len: 7, Width: 4, Words: make([]uint64, 1)}, {Width: 1},
	}}
	f.Add([]byte{4, 3, 5, 1, 63, 2, 0, 27, 0})
	f.Add([]byte{0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		c, rest, err := ParseChanges(b, s)
		if err != nil {
			if !errors.Is(err, umbel.ErrCorrupt) {
				t.Fatalf("error without sentinel: %v", err)
			}
			return
		}
		changed := s.Clone()
		c.Apply(changed)
		if err := changed.Check(); err != nil {
			t.Fatal(err)
		}
		if got := append(c.Append(nil), rest...); !bytes.Equal(got, b) {
			t.Fatalf("% x, want % x", got, b)
		}
		if again, ok := Compare(s, changed, nil); !ok || !slices.Equal(flipped(s, again), flipped(s, c)) {
			t.Fatal("other changes lead to the state")
		}
	})
}

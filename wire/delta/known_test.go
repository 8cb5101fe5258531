package delta

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/wire/internal/block"
)

// Changes that are known, between states or merged from several steps, are encoded as the bytes that comparing
// the states returns, and these lead to the result. Arrays have all fill ratios, changes all sizes.
func TestKnown(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range trials(150) {
		states := []umbel.State{randomState(t, rng)}
		ones := NewOnes(states[0])
		var steps []Changes
		for i := range 3 {
			next := changed(rng, states[i])
			step, _ := Compare(states[i], next, nil)
			ones.Update(next, step)
			states, steps = append(states, next), append(steps, step)
		}
		result := states[3]
		e := Encoder{Workers: 1 + rng.IntN(3)}
		for i, base := range states {
			want, err := e.AppendChange(nil, base, result)
			if err != nil {
				t.Fatal(err)
			}
			whole, _ := Compare(base, result, nil)
			for _, c := range []Changes{whole, Merge(steps[i:]...)} {
				got, err := e.AppendKnown([]byte("x"), base.WithArrays(result.AllArrays()), result, c, ones)
				if err != nil || !bytes.Equal(got[1:], want) {
					t.Fatalf("%d bytes, AppendChange writes %d: %v", len(got)-1, len(want), err)
				}
			}
			if s, err := (Decoder{}).ApplyChange(base, want); err != nil || !s.Equal(result) {
				t.Fatalf("the change leads to another state: %v", err)
			}
		}
	}
}

// The same holds for blocks that are empty or full after a change, also for the last one, which may have fewer
// cells than bits.
func TestKnownPlainBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for range trials(300) {
		a, err := cells.New(1+rng.Uint64N(4<<19), 1)
		if err != nil {
			t.Fatal(err)
		}
		for b := range block.All(a) {
			switch rng.IntN(3) {
			case 0:
				block.Fill(b)
			case 1:
				copy(b.Words, randomArray(t, rng, b.Len, 1).Words)
			}
		}
		before := a.Clone()
		if rng.IntN(2) == 0 { // so that lists are not tried
			for range 2000 {
				before.Words[rng.IntN(min(len(a.Words), block.Words))] ^= 1 << rng.IntN(64)
			}
		}
		for range 1 + rng.IntN(5) {
			i := min(rng.IntN(len(a.Words)+len(a.Words)/4+1), len(a.Words)-1)
			before.Words[i] ^= 1 << rng.IntN(64)
		}
		before = trimmed(before)
		base, result := umbel.State{Kind: "x", Arrays: []cells.Array{before}}, umbel.State{Kind: "x", Arrays: []cells.Array{a}}
		c, _ := Compare(base, result, nil)
		for range 2 {
			want, err := Encoder{}.AppendChange(nil, base, result)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Encoder{}.AppendKnown(nil, base, result, c, NewOnes(result))
			if err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%d bytes, AppendChange writes %d: %v", len(got), len(want), err)
			}
			base, result = result, base
		}
	}
}

// If arrays or parts move, as in a window, the base is reconstructed, and the bytes are those of AppendChange.
func TestKnownMoved(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for range trials(40) {
		n := 1 + rng.Uint64N(1<<16)
		var arrays []cells.Array
		for range 5 {
			arrays = append(arrays, randomArray(t, rng, n, 1))
		}
		part := func(a cells.Array) umbel.State { return umbel.State{Kind: "y", Arrays: []cells.Array{a}} }
		base := umbel.State{Kind: "x", Arrays: arrays[:2], Parts: []umbel.State{part(arrays[2]), part(arrays[3])}}
		result := umbel.State{Kind: "x", Arrays: arrays[1:3], Parts: []umbel.State{part(arrays[3]), part(arrays[4])}}
		result = result.Clone()
		want, err := Encoder{}.AppendChange(nil, base, result)
		if err != nil {
			t.Fatal(err)
		}
		c, _ := Compare(base, result, nil)
		got, err := Encoder{}.AppendKnown(nil, base.WithArrays(result.AllArrays()), result, c, NewOnes(result))
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%d bytes, AppendChange writes %d: %v", len(got), len(want), err)
		}
	}
}

// The numbers of ones after changes, and after the same changes back, are those of the state.
func TestOnes(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range trials(40) {
		s := randomState(t, rng)
		ones := NewOnes(s)
		next := changed(rng, s)
		c, _ := Compare(s, next, nil)
		if ones.Update(next, c); !reflect.DeepEqual(ones, NewOnes(next)) {
			t.Fatal("the numbers of ones after a change are not those of the state")
		}
		if ones.Update(s, c); !reflect.DeepEqual(ones, NewOnes(s)) {
			t.Fatal("the numbers of ones after the change back are not those of the state")
		}
	}
}

// A ranker returns the number of ones before any words that ascend, in all of an array or in some blocks.
func TestRanker(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for range trials(40) {
		a := randomArray(t, rng, 1+rng.Uint64N(1<<22), 1)
		n := count(a)
		blocks := uint64(len(n.blocks))
		first := rng.Uint64N(blocks)
		words := a.Words[first*8192:]
		r := ranker{counts: n.of(first, blocks-first), words: words}
		for word := 0; word < len(words); word += rng.IntN(1 << rng.IntN(16)) {
			if got, want := r.rank(word), countOnes(words[:word]); got != uint64(want) {
				t.Fatalf("%d ones before word %d, want %d", got, word, want)
			}
			word++
		}
		if got, want := r.all(), countOnes(words); got != uint64(want) {
			t.Fatalf("%d ones, want %d", got, want)
		}
	}
}

// Without a common kind or shape nothing is encoded. Changes or ones of another number of arrays panic.
func TestKnownRefuses(t *testing.T) {
	s := randomState(t, rand.New(rand.NewPCG(9, 1)))
	other := s
	other.Kind = "y"
	if b, err := (Encoder{}).AppendKnown([]byte{1}, other, s, Changes{}, NewOnes(s)); !errors.Is(err, umbel.ErrMismatch) || len(b) != 1 {
		t.Errorf("another kind: %d bytes, %v", len(b), err)
	}
	longer := s.Clone()
	longer.Arrays[0] = randomArray(t, rand.New(rand.NewPCG(9, 2)), s.Arrays[0].Len+1, 1)
	if b, err := (Encoder{}).AppendKnown([]byte{1}, longer, s, Changes{}, NewOnes(s)); !errors.Is(err, umbel.ErrMismatch) || len(b) != 1 {
		t.Errorf("another shape: %d bytes, %v", len(b), err)
	}
	more := s
	more.Arrays = append(slices.Clone(s.Arrays), cells.Array{Width: 1})
	fixture.WantPanic(t, "the ones of another state", func() { _, _ = Encoder{}.AppendKnown(nil, s, s, Changes{}, NewOnes(more)) })
	c, _ := Compare(more, more, nil)
	fixture.WantPanic(t, "the changes of another state", func() { _, _ = Encoder{}.AppendKnown(nil, s, s, c, NewOnes(s)) })
}

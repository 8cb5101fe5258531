package wire_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/wire"
)

// streamed writes a state block by block, in layout l.
func streamed(w io.Writer, s umbel.State, l *wire.Layout) error {
	arrays := s.AllArrays()
	bare := make([]cells.Array, len(arrays))
	for i, a := range arrays {
		bare[i] = cells.Array{Len: a.Len, Width: a.Width}
	}
	for b, err := range wire.WriteBlocks(w, s.WithArrays(bare), l) {
		if err != nil {
			return err
		}
		copy(b.Cells.Words, arrays[b.Array].Words[b.First*uint64(b.Cells.Width)/64:])
	}
	return nil
}

// randomArray returns an array of up to 130 blocks, each empty, full or neither.
func randomArray(rng *rand.Rand) cells.Array {
	width := uint(1) << rng.IntN(7)
	a := fixture.Must(cells.New(rng.Uint64N(130<<19)/uint64(width)+rng.Uint64N(3), width))
	all, empty := ^uint64(0), rng.IntN(8)
	for at := 0; at < len(a.Words); at += 8192 {
		words := a.Words[at:min(at+8192, len(a.Words))]
		switch kind := rng.IntN(8); {
		case kind < empty:
		case kind == 7:
			for i := range words {
				words[i] = all
			}
		default:
			words[rng.IntN(len(words))] = rng.Uint64() | 1
		}
	}
	if used := a.Len * uint64(width) % 64; used != 0 {
		a.Words[len(a.Words)-1] &= all >> (64 - used)
	}
	return a
}

// WriteBlocks writes the bytes of Write if the layout is that of Write, which it states. In any other layout the container has
// the same state.
func TestWriteStreamed(t *testing.T) {
	rng := rand.New(rand.NewPCG(36, 1))
	rounds := 40
	if testing.Short() {
		rounds = 8
	}
	for range rounds {
		s := umbel.State{Kind: "a", Arrays: []cells.Array{randomArray(rng)}}
		for range rng.IntN(3) {
			s.Parts = append(s.Parts, umbel.State{Kind: "b", Arrays: []cells.Array{randomArray(rng)}})
		}
		if rng.IntN(2) == 0 {
			s.Notes.Tick = 7
		}
		want := fixture.Must(wire.Append(nil, s))
		var right wire.Layout
		if err := streamed(io.Discard, s, &right); err != nil {
			t.Fatal(err)
		}
		for _, runs := range [][]bool{nil, right.Runs, make([]bool, len(right.Runs)), make([]bool, 1)} {
			l := wire.Layout{Runs: slices.Clone(runs)}
			for round := range 2 {
				var b bytes.Buffer
				if err := streamed(&b, s, &l); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(l.Runs, right.Runs) || round == 1 && !l.Fits {
					t.Fatalf("layout %v, want %v", l, right.Runs)
				}
				if got := bytes.Equal(b.Bytes(), want); got != l.Fits {
					t.Fatalf("layout %v, right is %v: bytes of Write is %v, and Fits %v", runs, right.Runs, got, l.Fits)
				}
				if got, err := wire.Parse(b.Bytes(), wire.Limits{}); err != nil || !got.Equal(s) || got.Notes != s.Notes {
					t.Fatalf("layout %v: another state, %v", runs, err)
				}
			}
		}
	}
}

// A loop that ends early, an error of the writer and bits beyond the last cell end the container.
func TestWriteStreamedEnds(t *testing.T) {
	s := umbel.State{Kind: "a", Arrays: []cells.Array{{Len: 3<<19 + 1, Width: 1}}}
	var l wire.Layout
	blocks := 0
	for b, err := range wire.WriteBlocks(io.Discard, s, &l) {
		if blocks++; err != nil || b.First != 0 {
			t.Fatal(b.First, err)
		}
		break
	}
	for b, err := range wire.WriteBlocks(io.Discard, s, &l) {
		if blocks++; err == nil {
			b.Cells.Words[len(b.Cells.Words)-1] = 2
		} else if !errors.Is(err, umbel.ErrCorrupt) {
			t.Error(err)
		}
	}
	if blocks != 1+4+1 || l.Runs != nil || l.Fits {
		t.Errorf("%d blocks, layout %v", blocks, l)
	}
	s.Arrays[0].Words = make([]uint64, 1)
	for _, err := range wire.WriteBlocks(io.Discard, s, &l) {
		if !errors.Is(err, umbel.ErrCorrupt) {
			t.Error(err)
		}
	}
}

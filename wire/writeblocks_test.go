package wire_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/wire"
)

// WriteBlocks writes the bytes that Write writes for the same state.
func TestWriteBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	array := func(n uint64, width uint, set int) cells.Array {
		a, err := cells.New(n, width)
		if err != nil {
			t.Fatal(err)
		}
		for range set {
			a.Put(rng.Uint64N(n), 1)
		}
		return a
	}
	s := umbel.State{
		Kind:   "example.org/a",
		Params: umbel.Params{{Name: "x", Value: umbel.Uint(7)}},
		Arrays: []cells.Array{array(20*1<<19+77, 1, 1e5), array(100, 8, 9)},
		Parts: []umbel.State{
			{Kind: "example.org/b", Arrays: []cells.Array{array(1<<21, 1, 0), array(1<<19, 4, 5000)}},
			{Kind: "example.org/c"},
		},
	}
	for _, workers := range []int{0, 3} {
		p := wire.Packer{Workers: workers}
		want := fixture.Must(p.Append(nil, s))
		if got, err := written(p, s); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d workers: %d bytes, %v, other than the %d of Append", workers, len(got), err, len(want))
		}
	}
}

// fill writes a state whose arrays have no words; set sets the cells of a block.
func fill(p wire.Packer, w io.Writer, s umbel.State, set func(wire.Block) error) error {
	for b, err := range p.WriteBlocks(w, s) {
		if err == nil {
			err = set(b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func TestWriteBlocksRefuses(t *testing.T) {
	nothing := func(wire.Block) error { return nil }
	good := umbel.State{Kind: "a", Arrays: []cells.Array{{Len: 100, Width: 1}}}
	for what, s := range map[string]umbel.State{
		"no kind":        {},
		"words":          {Kind: "a", Arrays: []cells.Array{{Len: 100, Width: 1, Words: make([]uint64, 2)}}},
		"a width of 3":   {Kind: "a", Arrays: []cells.Array{{Len: 100, Width: 3}}},
		"a part of that": {Kind: "a", Parts: []umbel.State{{Kind: "a", Arrays: []cells.Array{{Len: 100, Width: 3}}}}},
		"parts too deep": {Kind: "a", Parts: []umbel.State{{Kind: "a", Parts: []umbel.State{{Kind: "a", Parts: []umbel.State{{Kind: "a", Parts: []umbel.State{{Kind: "a"}}}}}}}}},
	} {
		if err := fill(wire.Packer{}, io.Discard, s, nothing); !errors.Is(err, umbel.ErrCorrupt) {
			t.Errorf("%s: error %v, want one that wraps %q", what, err, umbel.ErrCorrupt)
		}
	}
	for _, workers := range []int{0, 3} {
		beyond := umbel.State{Kind: "a", Arrays: []cells.Array{{Len: 100, Width: 1}, {Len: 1<<20 + 3, Width: 1}, {Len: 64, Width: 1}}}
		calls := 0
		err := fill(wire.Packer{Workers: workers}, io.Discard, beyond, func(b wire.Block) error {
			calls++
			if b.Array == 1 && b.Cells.Len == 3 {
				b.Cells.Words[0] = 0xff
			}
			return nil
		})
		if !errors.Is(err, umbel.ErrCorrupt) || calls != 4 {
			t.Errorf("bits beyond the last cell, %d workers: %d calls, error %v, want 4 and one that wraps %q", workers, calls, err, umbel.ErrCorrupt)
		}
	}
	broken := errors.New("broken")
	// Nothing is set that can't be written.
	arrays := umbel.State{Kind: "a", Arrays: []cells.Array{{Len: 1 << 23, Width: 1}, {Len: 1 << 23, Width: 1}}}
	err := fill(wire.Packer{}, &failing{err: broken}, arrays, func(b wire.Block) error {
		if b.Array > 0 {
			t.Error("a block is set after the writer has failed")
		}
		b.Cells.Put(1, 1)
		return nil
	})
	if !errors.Is(err, broken) {
		t.Errorf("a writer that fails at the first array: error %v, want %q", err, broken)
	}
	for _, workers := range []int{0, 3} {
		calls := 0
		err = fill(wire.Packer{Workers: workers}, io.Discard, arrays, func(wire.Block) error {
			calls++
			return broken
		})
		if !errors.Is(err, broken) || calls != 1 {
			t.Errorf("cells that fail, %d workers: %d calls, error %v, want 1 and %q", workers, calls, err, broken)
		}
	}
	wantNoGoroutines(t)
	if err := fill(wire.Packer{}, &failing{err: broken}, good, nothing); !errors.Is(err, broken) {
		t.Errorf("a writer that fails: error %v, want %q", err, broken)
	}
}

package wire_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/wire"
)

// What Emit writes, block by block, is what Write does of the same state.
func TestEmit(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	plane := func(n uint64, width uint, set int) cells.Array {
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
		Arrays: []cells.Array{plane(20*1<<19+77, 1, 1e5), plane(100, 8, 9)},
		Parts: []umbel.State{
			{Kind: "example.org/b", Arrays: []cells.Array{plane(1<<21, 1, 0), plane(1<<19, 4, 5000)}},
			{Kind: "example.org/c"},
		},
	}
	all := append(append([]cells.Array{}, s.Arrays...), s.Parts[0].Arrays...)
	bare := s.Clone()
	for _, planes := range [][]cells.Array{bare.Arrays, bare.Parts[0].Arrays} {
		for i := range planes {
			planes[i].Words = nil
		}
	}
	for _, workers := range []int{0, 3} {
		p := wire.Packer{Workers: workers}
		var got, want bytes.Buffer
		if err := p.Write(&want, s); err != nil {
			t.Fatal(err)
		}
		err := p.WriteFunc(&got, bare, func(plane int, first uint64, b cells.Array) {
			copy(b.Words, all[plane].Words[first*uint64(b.Width)/64:])
		})
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Errorf("%d workers: %d bytes, other than the %d of Write", workers, got.Len(), want.Len())
		}
	}
}

func TestEmitRefuses(t *testing.T) {
	nothing := func(int, uint64, cells.Array) {}
	good := umbel.State{Kind: "a", Arrays: []cells.Array{{Len: 100, Width: 1}}}
	for what, s := range map[string]umbel.State{
		"no kind":        {},
		"words":          {Kind: "a", Arrays: []cells.Array{{Len: 100, Width: 1, Words: make([]uint64, 2)}}},
		"a width of 3":   {Kind: "a", Arrays: []cells.Array{{Len: 100, Width: 3}}},
		"a part of that": {Kind: "a", Parts: []umbel.State{{Kind: "a", Arrays: []cells.Array{{Len: 100, Width: 3}}}}},
		"parts too deep": {Kind: "a", Parts: []umbel.State{{Kind: "a", Parts: []umbel.State{{Kind: "a", Parts: []umbel.State{{Kind: "a", Parts: []umbel.State{{Kind: "a"}}}}}}}}},
	} {
		if err := (wire.Packer{}).WriteFunc(io.Discard, s, nothing); !errors.Is(err, umbel.ErrCorrupt) {
			t.Errorf("%s: error %v, want one that wraps %q", what, err, umbel.ErrCorrupt)
		}
	}
	for _, workers := range []int{0, 3} {
		beyond := umbel.State{Kind: "a", Arrays: []cells.Array{{Len: 100, Width: 1}, {Len: 1<<20 + 3, Width: 1}, {Len: 64, Width: 1}}}
		calls := 0
		err := (wire.Packer{Workers: workers}).WriteFunc(io.Discard, beyond, func(plane int, _ uint64, b cells.Array) {
			calls++
			if plane == 1 && b.Len == 3 {
				b.Words[0] = 0xff
			}
		})
		if !errors.Is(err, umbel.ErrCorrupt) || calls != 4 {
			t.Errorf("bits beyond the last cell, %d workers: %d calls, error %v, want 4 and one that wraps %q", workers, calls, err, umbel.ErrCorrupt)
		}
	}
	broken := errors.New("broken")
	// Nothing is set that can't be written.
	planes := umbel.State{Kind: "a", Arrays: []cells.Array{{Len: 1 << 23, Width: 1}, {Len: 1 << 23, Width: 1}}}
	err := (wire.Packer{}).WriteFunc(&failing{err: broken}, planes, func(plane int, _ uint64, b cells.Array) {
		if plane > 0 {
			t.Error("a block is set after the writer has failed")
		}
		b.Put(1, 1)
	})
	if !errors.Is(err, broken) {
		t.Errorf("a writer that fails at the first plane: error %v, want %q", err, broken)
	}
	if err := (wire.Packer{}).WriteFunc(&failing{err: broken}, good, nothing); !errors.Is(err, broken) {
		t.Errorf("a writer that fails: error %v, want %q", err, broken)
	}
}

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
	"github.com/umbel-filters/umbel/wire/hashtree"
)

// WriteFunc writes the bytes that Write writes for the same state.
func TestWriteFunc(t *testing.T) {
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
	all := append(append([]cells.Array{}, s.Arrays...), s.Parts[0].Arrays...)
	bare := s.Clone()
	for _, arrays := range [][]cells.Array{bare.Arrays, bare.Parts[0].Arrays} {
		for i := range arrays {
			arrays[i].Words = nil
		}
	}
	for _, workers := range []int{0, 3} {
		p := wire.Packer{Workers: workers}
		var got, want bytes.Buffer
		if err := p.Write(&want, s); err != nil {
			t.Fatal(err)
		}
		err := p.WriteFunc(&got, bare, func(array int, first uint64, b cells.Array) error {
			copy(b.Words, all[array].Words[first*uint64(b.Width)/64:])
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Errorf("%d workers: %d bytes, other than the %d of Write", workers, got.Len(), want.Len())
		}
	}
}

func TestWriteFuncRefuses(t *testing.T) {
	nothing := func(int, uint64, cells.Array) error { return nil }
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
		err := (wire.Packer{Workers: workers}).WriteFunc(io.Discard, beyond, func(array int, _ uint64, b cells.Array) error {
			calls++
			if array == 1 && b.Len == 3 {
				b.Words[0] = 0xff
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
	err := (wire.Packer{}).WriteFunc(&failing{err: broken}, arrays, func(array int, _ uint64, b cells.Array) error {
		if array > 0 {
			t.Error("a block is set after the writer has failed")
		}
		b.Put(1, 1)
		return nil
	})
	if !errors.Is(err, broken) {
		t.Errorf("a writer that fails at the first array: error %v, want %q", err, broken)
	}
	calls := 0
	err = (wire.Packer{}).WriteFunc(io.Discard, arrays, func(int, uint64, cells.Array) error {
		calls++
		return broken
	})
	if !errors.Is(err, broken) || calls != 1 {
		t.Errorf("cells that fail: %d calls, error %v, want 1 and %q", calls, err, broken)
	}
	if err := (wire.Packer{}).WriteFunc(&failing{err: broken}, good, nothing); !errors.Is(err, broken) {
		t.Errorf("a writer that fails: error %v, want %q", err, broken)
	}
}

// WriteCanonical writes a container with the size and the ID of the state.
func TestWriteCanonical(t *testing.T) {
	bits, err := cells.New(3*1<<19+77, 1)
	if err != nil {
		t.Fatal(err)
	}
	counters, err := cells.New(300, 8)
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint64(300) {
		bits.SetBit(i * 4999)
		counters.Put(i, i%256)
	}
	s := umbel.State{
		Kind:   "example.org/a",
		Params: umbel.Params{{Name: "x", Value: umbel.Float(7.5)}},
		Arrays: []cells.Array{bits},
		Parts:  []umbel.State{{Kind: "example.org/b", Arrays: []cells.Array{{Width: 1}, counters}}, {Kind: "example.org/c"}},
	}
	all := []cells.Array{bits, {Width: 1}, counters}
	bare := s.Clone()
	bare.Arrays[0].Words, bare.Parts[0].Arrays[1].Words = nil, nil

	var got bytes.Buffer
	id, err := hashtree.WriteCanonical(&got, bare, func(array int, first uint64, b cells.Array) error {
		copy(b.Words, all[array].Words[first*uint64(b.Width)/64:])
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if id != hashtree.Identify(s) {
		t.Errorf("ID %v, want %v", id, hashtree.Identify(s))
	}
	if uint64(got.Len()) != wire.Size(s) {
		t.Errorf("%d bytes, want %d", got.Len(), wire.Size(s))
	}
	back, err := wire.Parse(got.Bytes(), wire.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if hashtree.Identify(back) != id {
		t.Errorf("what was written is read as %v, want %v", hashtree.Identify(back), id)
	}
}

func TestWriteCanonicalRefuses(t *testing.T) {
	bare := umbel.State{Kind: "a", Arrays: []cells.Array{{Len: 100, Width: 1}}}
	failed := errors.New("no cells")
	if _, err := hashtree.WriteCanonical(io.Discard, bare, func(int, uint64, cells.Array) error { return failed }); !errors.Is(err, failed) {
		t.Errorf("error %v, want %v", err, failed)
	}
	beyond := func(_ int, _ uint64, b cells.Array) error {
		b.Words[1] = ^uint64(0)
		return nil
	}
	if _, err := hashtree.WriteCanonical(io.Discard, bare, beyond); !errors.Is(err, umbel.ErrCorrupt) {
		t.Errorf("error %v, want one that wraps %v", err, umbel.ErrCorrupt)
	}
	bare.Kind = ""
	if _, err := hashtree.WriteCanonical(io.Discard, bare, beyond); !errors.Is(err, umbel.ErrCorrupt) {
		t.Errorf("error %v, want one that wraps %v", err, umbel.ErrCorrupt)
	}
}

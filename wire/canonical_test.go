package wire_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/wire"
)

// What WriteCanonicalFunc writes is the state's container, of the size and ID that the state
// has.
func TestEmitCanonical(t *testing.T) {
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
	id, err := wire.WriteCanonicalFunc(&got, bare, func(plane int, first uint64, b cells.Array) error {
		copy(b.Words, all[plane].Words[first*uint64(b.Width)/64:])
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if id != wire.Identify(s) {
		t.Errorf("ID %v, want %v", id, wire.Identify(s))
	}
	if uint64(got.Len()) != wire.Size(s) {
		t.Errorf("%d bytes, want %d", got.Len(), wire.Size(s))
	}
	back, err := wire.Parse(got.Bytes(), wire.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if wire.Identify(back) != id {
		t.Errorf("what was written is read as %v, want %v", wire.Identify(back), id)
	}
}

func TestEmitCanonicalRefuses(t *testing.T) {
	bare := umbel.State{Kind: "a", Arrays: []cells.Array{{Len: 100, Width: 1}}}
	failed := errors.New("no cells")
	if _, err := wire.WriteCanonicalFunc(io.Discard, bare, func(int, uint64, cells.Array) error { return failed }); !errors.Is(err, failed) {
		t.Errorf("error %v, want %v", err, failed)
	}
	beyond := func(_ int, _ uint64, b cells.Array) error {
		b.Words[1] = ^uint64(0)
		return nil
	}
	if _, err := wire.WriteCanonicalFunc(io.Discard, bare, beyond); !errors.Is(err, umbel.ErrCorrupt) {
		t.Errorf("error %v, want one that wraps %v", err, umbel.ErrCorrupt)
	}
	bare.Kind = ""
	if _, err := wire.WriteCanonicalFunc(io.Discard, bare, beyond); !errors.Is(err, umbel.ErrCorrupt) {
		t.Errorf("error %v, want one that wraps %v", err, umbel.ErrCorrupt)
	}
}

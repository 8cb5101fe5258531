package statecode

import (
	"reflect"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
)

// WithoutWords removes words, and leaves its argument as it is.
func TestWithoutWords(t *testing.T) {
	array := func(n uint64) cells.Array {
		a, err := cells.New(64*n, 1)
		if err != nil {
			t.Fatal(err)
		}
		a.Words[0] = n
		return a
	}
	s := umbel.State{Arrays: []cells.Array{array(1), array(2)}, Parts: []umbel.State{
		{Arrays: []cells.Array{array(3)}, Parts: []umbel.State{{Arrays: []cells.Array{array(4)}}}}, {Arrays: []cells.Array{array(5)}},
	}}
	before := s.Clone()
	list := s.AllArrays()
	bare := WithoutWords(s)
	for i, a := range bare.AllArrays() {
		if a.Words != nil || a.Len != list[i].Len {
			t.Errorf("array %d without words: %v", i, a)
		}
	}
	if again := bare.WithArrays(list); !reflect.DeepEqual(again, before) || !reflect.DeepEqual(s, before) {
		t.Errorf("got %v from %v, want %v", again, s, before)
	}
}

func TestWords(t *testing.T) {
	words, got := []uint64{1, 1<<63 + 2}, make([]uint64, 2)
	b := make([]byte, 16)
	PutWords(b, words)
	if want := []byte{1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0x80}; !slices.Equal(b, want) {
		t.Errorf("%x, want %x", b, want)
	}
	if Words(got, b); !slices.Equal(got, words) {
		t.Errorf("%x, want %x", got, words)
	}
}

package wire_test

import (
	"bytes"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/hashtree"
	"github.com/umbel-filters/umbel/wire/internal/block"
	"github.com/umbel-filters/umbel/wire/internal/wiretest"
)

// large returns an array of the given number of whole and half blocks; of each eight blocks, some are zero.
func large(t *testing.T, halves uint64, width uint, zeros int) cells.Array {
	return wiretest.Array(t, halves<<18/uint64(width)-1, width, func(i int) uint64 {
		if i>>13&7 < zeros {
			return 0
		}
		return wiretest.Noise(i)
	})
}

// Arrays of more than 64 blocks, of which most are neither empty nor full, are contiguous and aligned, and take no
// more bytes than raw blocks.
func TestContiguous(t *testing.T) {
	for _, c := range []struct {
		halves uint64
		width  uint
		zeros  int
		want   bool
	}{{128, 1, 0, false}, {129, 1, 0, true}, {130, 4, 3, true}, {160, 64, 4, false}, {160, 2, 8, false}, {131, 8, 0, true}} {
		a := large(t, c.halves, c.width, c.zeros)
		for _, s := range []umbel.State{
			{Kind: "x", Arrays: []cells.Array{a}},
			{Kind: "xyz", Arrays: []cells.Array{wiretest.Array(t, 9, 8, wiretest.Ones), a, a}, Parts: []umbel.State{{Kind: "y", Arrays: []cells.Array{a}}}, Notes: umbel.Notes{Planned: umbel.Planned{Keys: 1, FPRate: 0.5}}},
		} {
			b := mustAppend(t, s)
			if uint64(len(b)) > wire.Size(s) {
				t.Errorf("%v: %d bytes, Size is %d", c, len(b), wire.Size(s))
			}
			fitsExactly(t, s, b)
			// The first words that are not zero, and the last before the end of the third block.
			run := block.AppendWords(nil, a.Words[8192*c.zeros:][:16384])
			if at := bytes.Index(b, run); (at >= 0) != c.want || c.want && at%64 != 0 {
				t.Errorf("%v: the words are at byte %d", c, at)
			}
			sameReads(t, b, s)
		}
	}
}

// fitsExactly fails unless Append needs no more room than for b, the container of s.
func fitsExactly(t interface{ Errorf(string, ...any) }, s umbel.State, b []byte) {
	room := make([]byte, 0, len(b))
	if got, err := wire.Append(room, s); err != nil || !bytes.Equal(got, b) || &got[0] != &room[:1][0] {
		t.Errorf("Append to room for %d bytes returns %d bytes, in other memory: %v", len(b), len(got), err)
	}
}

// A container of arrays beyond the default limit is contiguous as well, unless its arrays are small.
func TestContiguousBeyondTheLimit(t *testing.T) {
	s := umbel.State{Kind: "x", Arrays: []cells.Array{large(t, 140, 1, 8), wiretest.Array(t, 70, 1, wiretest.Zeros)}}
	b, err := wire.AppendWithin(nil, s, 1000)
	if err != nil || uint64(len(b)) > wire.Size(s) || uint64(len(b)) < s.Bytes() {
		t.Fatalf("%d bytes, %v", len(b), err)
	}
	if got, err := wire.ParseWithin(b, 1000); err != nil || !wiretest.Equal(got, s) {
		t.Error(err)
	}
}

// sameReads fails unless all readers return s for the container b.
func sameReads(t *testing.T, b []byte, s umbel.State) {
	t.Helper()
	for _, workers := range []int{0, 3} {
		l := wire.Limits{Workers: workers}
		if got, err := wire.Parse(b, l); err != nil || !wiretest.Equal(got, s) {
			t.Errorf("Parse: %v", err)
		}
		if got, err := wire.Read(bytes.NewBuffer(b), l); err != nil || !wiretest.Equal(got, s) {
			t.Errorf("Read: %v", err)
		}
		got, tree, err := hashtree.Read(bytes.NewBuffer(b), uint64(len(b)), l)
		if err != nil || !wiretest.Equal(got, s) || tree.ID() != hashtree.Identify(s) {
			t.Errorf("hashtree.Read: %v", err)
		}
		nonzero, want := uint64(0), uint64(0)
		for b, err := range wire.ReadBlocks(bytes.NewBuffer(b), l, nil) {
			if err != nil {
				t.Errorf("ReadBlocks: %v", err)
			}
			nonzero += b.Cells.Nonzero()
		}
		for _, part := range append(s.Parts, s) {
			for _, a := range part.Arrays {
				want += a.Nonzero()
			}
		}
		if nonzero != want {
			t.Errorf("ReadBlocks found %d cells, want %d", nonzero, want)
		}
	}
}

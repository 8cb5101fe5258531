package wire_test

import (
	"errors"
	"testing"
	"unsafe"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/internal/block"
	"github.com/umbel-filters/umbel/wire/internal/wiretest"
)

// at returns a copy of b whose first byte has the given distance from a multiple of 64.
func at(b []byte, distance int) []byte {
	room := make([]byte, len(b)+128)
	skip := int(-uintptr(unsafe.Pointer(&room[0]))%64) + distance
	return append(room[skip:skip:len(room)], b...)
}

// shares reports whether words are in b.
func shares(words []uint64, b []byte) bool {
	if len(words) == 0 {
		return false
	}
	first, end := uintptr(unsafe.Pointer(&b[0])), uintptr(unsafe.Pointer(&b[len(b)-1]))
	w := uintptr(unsafe.Pointer(&words[0]))
	return first <= w && w <= end
}

// viewAligned fails unless View returns at all alignments what Parse returns.
func viewAligned(t *testing.T, b []byte, l wire.Limits) {
	t.Helper()
	want, err := wire.Parse(b, l)
	for distance := range 8 {
		got, viewErr := wire.View(at(b, distance), l)
		if (err == nil) != (viewErr == nil) && !errors.Is(err, umbel.ErrLimit) {
			t.Fatalf("Parse: %v, View: %v", err, viewErr)
		}
		if err == nil && !wiretest.Equal(got, want) {
			t.Fatalf("View at %d bytes from a multiple of 64 returns another state than Parse", distance)
		}
	}
}

// View borrows the words of arrays that are contiguous or have one raw block, if they are aligned, and copies all others. What it
// borrows counts for no limit.
func TestViewBorrows(t *testing.T) {
	_, canBorrow := block.Borrow(make([]byte, 8))
	large, small := large(t, 130, 1, 0), wiretest.Array(t, 1000, 4, wiretest.Noise)
	s := umbel.State{Kind: "x", Arrays: []cells.Array{
		small, large, wiretest.Array(t, 1<<20, 1, wiretest.Noise), wiretest.Array(t, 77, 8, wiretest.Zeros), {Width: 1},
	}, Parts: []umbel.State{{Kind: "y", Arrays: []cells.Array{large}}}}
	b := mustAppend(t, s)
	for distance := range 8 {
		b := at(b, distance)
		got, err := wire.View(b, wire.Limits{Bytes: s.Bytes() - 2*large.Bytes()})
		if !canBorrow || distance > 0 {
			if !errors.Is(err, umbel.ErrLimit) {
				t.Errorf("at %d: %v, want an error that wraps ErrLimit", distance, err)
			}
			continue
		}
		if err != nil || !wiretest.Equal(got, s) {
			t.Fatalf("at %d: %v", distance, err)
		}
		borrowed := []bool{}
		for _, a := range got.AllArrays() {
			borrowed = append(borrowed, shares(a.Words, b))
		}
		if !borrowed[1] || !borrowed[5] || borrowed[2] || borrowed[3] || borrowed[4] {
			t.Errorf("at %d: borrowed %v, want the large arrays", distance, borrowed)
		}
		for i := range b[100:] { // a state that shares memory changes with it
			b[100+i] = 0
		}
		if got.Arrays[1].Nonzero() != 0 || !got.Arrays[2].Equal(s.Arrays[2]) {
			t.Error("the borrowed array has other memory, or the copied one has not")
		}
	}
	if !canBorrow {
		return
	}
	one := umbel.State{Kind: "x", Arrays: []cells.Array{small}}
	found := 0
	for distance := range 8 {
		b := at(mustAppend(t, one), distance)
		got, err := wire.View(b, wire.Limits{})
		if err != nil || !wiretest.Equal(got, one) {
			t.Fatal(err)
		}
		if shares(got.Arrays[0].Words, b) {
			found++
		}
	}
	if found != 1 {
		t.Errorf("an array of one block is borrowed at %d of 8 alignments, want 1", found)
	}
}

// View finds damage as Parse does.
func TestViewDamaged(t *testing.T) {
	s := umbel.State{Kind: "x", Arrays: []cells.Array{large(t, 130, 1, 0)}}
	b := at(mustAppend(t, s), 0)
	for _, i := range []int{0, 9, 40, 70, 1000, len(b) / 2, len(b) - 5, len(b) - 1} {
		b[i] ^= 4
		if _, err := wire.View(b, wire.Limits{}); !errors.Is(err, umbel.ErrCorrupt) {
			t.Errorf("byte %d: %v, want an error that wraps ErrCorrupt", i, err)
		}
		b[i] ^= 4
	}
	for n := range 300 {
		for _, cut := range [][]byte{b[:n], b[:len(b)-1-n*199]} {
			if _, err := wire.View(cut, wire.Limits{}); !errors.Is(err, umbel.ErrCorrupt) {
				t.Fatalf("the first %d bytes: %v, want an error that wraps ErrCorrupt", len(cut), err)
			}
		}
	}
}

package block

import (
	"bytes"
	"slices"
	"testing"
)

// The path for big-endian machines writes the bytes that little-endian ones have in
// memory, and reads them back.
func TestPlainWords(t *testing.T) {
	words := []uint64{0x0706050403020100, 0, ^uint64(0), 0x8000000000000001}
	want := []byte{0, 1, 2, 3, 4, 5, 6, 7, 15: 0, 16: 255, 17: 255, 18: 255, 19: 255, 20: 255, 21: 255, 22: 255, 23: 255, 24: 1, 31: 0x80}
	if got := AppendWords(nil, words); !bytes.Equal(got, want) {
		t.Errorf("AppendWords wrote %x, want %x", got, want)
	}
	if got := appendWords(nil, words); !bytes.Equal(got, want) {
		t.Errorf("appendWords wrote %x, want %x", got, want)
	}
	if b, ok := View(words); ok && !bytes.Equal(b, want) {
		t.Errorf("View is %x, want %x", b, want)
	}
	back := make([]uint64, 4)
	GetWords(back, want)
	if !slices.Equal(back, words) {
		t.Errorf("GetWords read %x, want %x", back, words)
	}
}

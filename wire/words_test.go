package wire

import (
	"bytes"
	"slices"
	"testing"
)

// The path for big-endian machines makes the bytes that little-endian ones have in
// memory, and reads them back.
func TestPlainWords(t *testing.T) {
	words := []uint64{0x0706050403020100, 0, ^uint64(0), 0x8000000000000001}
	want := []byte{0, 1, 2, 3, 4, 5, 6, 7, 15: 0, 16: 255, 17: 255, 18: 255, 19: 255, 20: 255, 21: 255, 22: 255, 23: 255, 24: 1, 31: 0x80}
	got := make([]byte, 32)
	putWords(got, words)
	if !bytes.Equal(got, want) {
		t.Errorf("putWords wrote %x, want %x", got, want)
	}
	if b, ok := view(words); ok && !bytes.Equal(b, want) {
		t.Errorf("view is %x, want %x", b, want)
	}
	back := make([]uint64, 4)
	getWords(back, want)
	if !slices.Equal(back, words) {
		t.Errorf("getWords read %x, want %x", back, words)
	}
}

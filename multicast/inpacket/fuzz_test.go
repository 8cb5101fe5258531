package inpacket

import (
	"bytes"
	"errors"
	"testing"
)

// FuzzParse: Parse returns an error, or AppendBinary gives the same bytes again, and no router
// panics on the header.
func FuzzParse(f *testing.F) {
	table := NewTable([]Codeword{{1, 2}, {3, 4}, {5, 6}})
	dense := NewDenseTable(256, [][]BitString{{{1, 2, 3, 4}, {5, 6, 7, 8}, {0, 0, 0, 9}}})
	f.Fuzz(func(t *testing.T, packet []byte) {
		var h Header
		n, err := h.Parse(packet)
		if err != nil {
			if !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrVersion) {
				t.Fatalf("an error of no kind: %v", err)
			}
			return
		}
		got, err := h.AppendBinary(nil)
		if err != nil || !bytes.Equal(got, packet[:n]) || n != h.Size() {
			t.Fatalf("%+v is written %x, %v; was %x", h, got, err, packet[:n])
		}
		var dst [1]uint64
		table.Match(dst[:], &h)
		dense.Match(dst[:], &h)
		if h.AllOnes() && !h.Overfull() && h.Form != Staged {
			t.Fatalf("%+v is all ones, and not too full", h)
		}
		changed := bytes.Clone(packet)
		recorded := Record(changed, 7)
		if recorded != (h.Trace != nil && len(h.Trace.Nodes) < h.Trace.Capacity) || !recorded && !bytes.Equal(changed, packet) {
			t.Fatalf("recorded: %v in %+v", recorded, h.Trace)
		}
	})
}

package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/multicast/adaptive"
	"github.com/umbel-filters/umbel/multicast/inpacket"
)

// storedRows returns the rows of a file of stored codewords.
func storedRows(t *testing.T, path string) [][]string {
	t.Helper()
	var rows [][]string
	for _, f := range inFolder(t, "inpacket") {
		if f.Path == path {
			for line := range strings.Lines(f.Body) {
				rows = append(rows, strings.Fields(line))
			}
		}
	}
	if len(rows) == 0 {
		t.Fatalf("no rows in %s", path)
	}
	return rows
}

// numberOf parses a number in a row.
func numberOf(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func codewordOf(t *testing.T, text string) (c inpacket.Codeword) {
	t.Helper()
	if _, err := fmt.Sscanf(text, "%16x%16x", &c.H1, &c.H2); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return c
}

func TestAdaptiveCodewords(t *testing.T) {
	for i, row := range storedRows(t, "inpacket/adaptive.txt") {
		b, err := hex.DecodeString(row[0])
		if err != nil {
			t.Fatal(err)
		}
		var d adaptive.Design
		if err := d.UnmarshalBinary(b); err != nil {
			t.Fatal(err)
		}
		s, err := d.Sampler()
		if err != nil {
			t.Fatal(err)
		}
		got := s.Codeword(codewordOf(t, row[1]), numberOf(t, row[2]))
		if hex.EncodeToString(bitBytes(got, d.Bits())) != row[3] {
			t.Errorf("row %d: got %x, want %s", i, bitBytes(got, d.Bits()), row[3])
		}
	}
}

func TestBadDesigns(t *testing.T) {
	for _, row := range storedRows(t, "inpacket/designs-bad.txt") {
		b, err := hex.DecodeString(row[0])
		if err != nil {
			t.Fatal(err)
		}
		var d adaptive.Design
		if err := d.UnmarshalBinary(b); !errors.Is(err, umbel.ErrCorrupt) {
			t.Errorf("%s: %v, want ErrCorrupt", row[1], err)
		}
	}
}

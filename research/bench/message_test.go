package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
)

// TestByteCoders tests that decoding inverts encoding, also for pieces that don't shrink,
// pieces of one value, and a short last piece.
func TestByteCoders(t *testing.T) {
	inputs := map[string]func(i int) byte{
		"zeros": func(int) byte { return 0 },
		"ones":  func(int) byte { return 255 },
		"noise": func(i int) byte { return byte(mix(uint64(i))) },
		"few":   func(i int) byte { return byte(mix(uint64(i)) & mix(uint64(i)+1) & mix(uint64(i)+2)) },
		"mixed": func(i int) byte { return byte(i>>16) * byte(mix(uint64(i))) },
	}
	for _, c := range byteCoders() {
		for name, at := range inputs {
			for _, n := range []int{0, 8, 1000, pieceBytes + 8, 3 * pieceBytes} {
				src := make([]byte, n)
				for i := range src {
					src[i] = at(i)
				}
				code := c.encode(nil, src)
				got, err := c.decode(code, n)
				if err != nil || !bytes.Equal(got, src) {
					t.Errorf("%s, %d bytes of %s: decoded incorrectly, error %v", c.name, n, name, err)
				}
			}
		}
	}
}

// TestUpdaters tests that messages that code a small change are short.
func TestUpdaters(t *testing.T) {
	m := deltaCase{times: 1, m: 1 << 17, k: 2, n: 10_000, churn: 0.01}.pairs()[0]
	for _, c := range updaters() {
		s := newSlice(c, []*message{m}, 1)
		if _, err := s.check(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if got := s.size(); !strings.Contains(c.name, "whole") && got > 5000 {
			t.Errorf("%s: %d bytes, want at most 5000", c.name, got)
		}
	}
}

// TestStaticSizes tests that no set is smaller than the lower bound of any filter, and that
// a ribbon is at most 5 % larger.
func TestStaticSizes(t *testing.T) {
	table, err := runStatic(10_000, options{only: regexp.MustCompile("")}, &progress{})
	if err != nil {
		t.Fatal(err)
	}
	least := table.Rows[0]
	for _, row := range table.Rows[1:] {
		for column, got := range row.Figures {
			if want := least.Figures[column]; got < want || row.Name == ribbonRow && got > 1.05*want {
				t.Errorf("%s, %s: %.3f bits per key, the lower bound is %.3f", row.Name, column, got, want)
			}
		}
	}
}

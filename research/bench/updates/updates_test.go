package main

import (
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

// docs/share.md contains the table that the program prints.
func TestPage(t *testing.T) {
	rows, err := published.run()
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../../docs/share.md")
	if err != nil {
		t.Fatal(err)
	}
	if table := markdown(published.replaced, rows); !strings.Contains(string(page), "\n"+table+"\n") {
		t.Errorf("docs/share.md has another table than go run ./research/bench/updates prints:\n%s", table)
	}
}

// A list that is read back is the one that was appended, and what follows it remains. A list that is
// cut is refused.
func TestRice(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		count int
		span  uint64
	}{{0, 1}, {1, 1}, {1, 1 << 32}, {100, 50}, {1000, 1 << 32}, {1000, 1500}} {
		list := make([]uint64, c.count)
		for i := range list {
			list[i] = rng.Uint64N(c.span)
		}
		slices.Sort(list)
		code := appendRice(nil, list)
		got, rest, err := readRice(append(code, 7, 8))
		if err != nil || !slices.Equal(got, list) || !slices.Equal(rest, []byte{7, 8}) {
			t.Errorf("%d numbers below %d: read %v and %v, error %v", c.count, c.span, got, rest, err)
		}
		for n := range code {
			if _, _, err := readRice(code[:n]); err == nil {
				t.Errorf("%d numbers below %d: no error for %d of %d bytes", c.count, c.span, n, len(code))
			}
		}
	}
}

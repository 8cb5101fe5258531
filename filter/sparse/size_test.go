package sparse

import (
	"errors"
	"math"
	"testing"

	"github.com/umbel-filters/umbel/plan"
)

// TestListBits: Mitzenmacher 2002 needs 92 cells per key at k = 1, and a list of 10,000 keys.
func TestListBits(t *testing.T) {
	for _, c := range []struct {
		what       string
		m, n, want uint64
	}{
		{"no keys", 920_000, 0, 64},
		{"one key", 64, 1, 128},
		{"one cell", 1, 1, 64},
		{"keys that share cells", 100, 1000, 256},
		{"table I of Mitzenmacher 2002", 920_000, 10_000, 24_384 + 60_032},
		{"the largest", 1 << 56, 1 << 20, 3<<20 - 1<<20 + 36<<20},
	} {
		if got := listBits(c.m, c.n); got != c.want {
			t.Errorf("%s: %d bits, want %d", c.what, got, c.want)
		}
	}
}

// TestListBitsAgainstEntropy: the bits per key are those of the formula, at most 2 +
// log2(m/n), and at most half a bit more than the entropy of the cells.
func TestListBitsAgainstEntropy(t *testing.T) {
	for _, f := range []float64{0.1, 0.0216, 0.01, 0.001, 1e-6} {
		const n = 1_000_000
		m, err := plan.SizeForK(n, 1, f)
		if err != nil {
			t.Fatal(err)
		}
		got := float64(listBits(m, n)) / n
		if most := 2 + math.Log2(float64(m)/n); got > most+1e-4 || got < most-0.09 {
			t.Errorf("f=%g: %.4f bits a key, want up to 0.09 less than %.4f", f, got, most)
		}
		if over := got - (plan.Filter{M: m, K: 1}).WireBits(n).Mean/n; over < 0.4 || over > 0.75 {
			t.Errorf("f=%g: %.4f bits a key, %.4f above the entropy, want about a half", f, got, over)
		}
	}
}

// TestMostCells: sizes and capacities are the largest that fit.
func TestMostCells(t *testing.T) {
	for _, c := range []struct{ n, bits uint64 }{{1, 128}, {1000, 8000}, {1000, 9000}, {1_000_000, 10_000_000}, {1000, 2000}} {
		m, err := mostCells(c.n, c.bits)
		if err != nil {
			t.Fatal(err)
		}
		if got := listBits(m, c.n); got > c.bits || got+256 < c.bits && m < 1<<56 {
			t.Errorf("%d keys in %d bits: %d cells, which take %d", c.n, c.bits, m, got)
		}
	}
	for _, c := range []struct {
		bits uint64
		p    float64
	}{{8000, 0.01}, {1 << 23, 0.001}, {1 << 10, 0.5}} {
		n, m, err := mostKeysIn(c.bits, c.p, func(m uint64) uint64 { return (m + 63) / 64 * 64 })
		if err != nil {
			t.Fatal(err)
		}
		if got := listBits(m, n); got > c.bits || got+512 < c.bits {
			t.Errorf("%d bits at %g: %d keys, which take %d", c.bits, c.p, n, got)
		}
		if got := (plan.Filter{M: m, K: 1}).FPRate(n); got > c.p || m%64 != 0 {
			t.Errorf("%d bits at %g: a rate of %g in %d cells, want no more in whole words", c.bits, c.p, got, m)
		}
	}
}

// TestMostCellsIsLargest: no larger size fits, although the bits don't rise with every cell.
func TestMostCellsIsLargest(t *testing.T) {
	for n := uint64(1); n < 60; n++ {
		most := make(map[uint64]uint64) // cells, by bits
		for m := uint64(1); m < 400*n; m++ {
			most[listBits(m, n)] = m
		}
		want := uint64(0)
		for bits := uint64(64); ; bits += 64 {
			want = max(want, most[bits])
			if want >= 100*n {
				break
			}
			for _, bits := range []uint64{bits, bits + 63} {
				if got, _ := mostCells(n, bits); got != want {
					t.Errorf("%d keys in %d bits: %d cells, want %d", n, bits, got, want)
				}
			}
		}
	}
	for _, c := range []struct{ n, bits, want uint64 }{{1, 1 << 40, 1 << 56}, {1 << 56, 1 << 60, 1 << 56}, {1<<56 + 1, 1 << 60, 1 << 56}, {1 << 63, 1 << 20, 1 << 19}} {
		if got, err := mostCells(c.n, c.bits); got != c.want {
			t.Errorf("%d keys in %d bits: %d cells, %v, want %d", c.n, c.bits, got, err, c.want)
		}
	}
}

func TestSizesRefuse(t *testing.T) {
	same := func(m uint64) uint64 { return m }
	_, none := mostCells(0, 1000)
	_, little := mostCells(1, 63)
	_, _, rate := mostKeysIn(1000, 1, same)
	_, _, low := mostKeysIn(64, 1e-9, same)
	_, _, huge := mostKeysIn(1<<40, 1e-300, same)
	for what, err := range map[string]error{"no keys": none, "too few bits": little, "a rate of 1": rate, "room for no key": low, "more than 2^56 cells": huge} {
		if !errors.Is(err, plan.ErrRange) {
			t.Errorf("%s: error %v, want one that wraps %q", what, err, plan.ErrRange)
		}
	}
	for _, m := range []uint64{0, 1<<56 + 1} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("listBits of %d cells doesn't panic", m)
				}
			}()
			listBits(m, 1)
		}()
	}
}

package cells

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestWordsFor(t *testing.T) {
	for _, c := range []struct {
		n     uint64
		width uint
		want  uint64
	}{
		{0, 1, 0}, {0, 64, 0}, {1, 1, 1}, {64, 1, 1}, {65, 1, 2}, {16, 4, 1}, {17, 4, 2},
		{1, 64, 1}, {3, 32, 2}, {1<<33 + 1, 1, 1<<27 + 1}, {1 << 59, 1, 1 << 53}, {1 << 53, 64, 1 << 53},
	} {
		if got, err := WordsFor(c.n, c.width); got != c.want || err != nil {
			t.Errorf("WordsFor(%d, %d) = %d, %v, want %d", c.n, c.width, got, err, c.want)
		}
	}
	for _, c := range []struct {
		n     uint64
		width uint
	}{
		{1, 0}, {1, 3}, {1, 63}, {1, 65}, {1, 128}, {1, ^uint(0)},
		{1<<59 + 1, 1}, {1<<53 + 1, 64}, {^uint64(0), 1}, {^uint64(0), 2}, {^uint64(0), 32}, {^uint64(0), 64}, {1 << 58, 64},
	} {
		n, err := WordsFor(c.n, c.width)
		wantShapeError(t, err)
		if n != 0 {
			t.Errorf("WordsFor(%d, %d) = %d with an error", c.n, c.width, n)
		}
	}
}

// An array that no machine can address is an error and not a panic of make.
func TestNewRefusesWhatCannotBeAddressed(t *testing.T) {
	for _, c := range []struct {
		n     uint64
		width uint
	}{{1, 0}, {1, 12}, {1 << 59, 1}, {1 << 51, 1}, {1 << 45, 64}, {^uint64(0), 64}} {
		a, err := New(c.n, c.width)
		wantShapeError(t, err)
		if a.Words != nil {
			t.Errorf("New(%d, %d) made %d words", c.n, c.width, len(a.Words))
		}
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name string
		a    Array
		want string // in the error; empty if there is none
	}{
		{"no cells", Array{Width: 1}, ""},
		{"zero", Array{}, "width 0"},
		{"no width", Array{Len: 64, Words: make([]uint64, 1)}, "width 0"},
		{"full last word", Array{64, 1, []uint64{^uint64(0)}}, ""},
		{"last cells used", Array{5, 4, []uint64{0xfffff}}, ""},
		{"width 3", Array{10, 3, make([]uint64, 1)}, "width 3"},
		{"width 128", Array{10, 128, make([]uint64, 20)}, "width 128"},
		{"too few words", Array{65, 1, make([]uint64, 1)}, "65 cells of 1 bits in 1 words, want 2"},
		{"too many words", Array{16, 4, make([]uint64, 2)}, "16 cells of 4 bits in 2 words, want 1"},
		{"words without cells", Array{0, 1, make([]uint64, 1)}, "in 1 words, want 0"},
		{"stray bit", Array{63, 1, []uint64{1 << 63}}, "last of 63 cells"},
		{"stray counter", Array{5, 4, []uint64{1 << 20}}, "last of 5 cells"},
		{"stray half", Array{1, 32, []uint64{1 << 32}}, "last of 1 cells"},
		{"length overflows", Array{1<<58 + 1, 64, make([]uint64, 1)}, "more than 2^56 bytes"},
		{"length overflows to the words there are", Array{1 << 63, 2, nil}, "more than 2^56 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.a.Check()
			if c.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			wantShapeError(t, err)
			if err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %q, want %q in it", err, c.want)
			}
		})
	}
}

func TestZeroArray(t *testing.T) {
	var a Array
	empty, err := New(0, 1)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string]Array{"zero": a, "New(0, 1)": empty, "Clone": a.Clone()} {
		if !a.Equal(b) || !b.Equal(a) {
			t.Errorf("the zero array differs from %s", name)
		}
	}
	if a.Limit() != 1 || a.Bytes() != 0 || a.Nonzero() != 0 {
		t.Errorf("limit %d, bytes %d, nonzero %d, want 1, 0, 0", a.Limit(), a.Bytes(), a.Nonzero())
	}
	if h := a.Histogram(2); h[0] != 0 || h[1] != 0 || h[2] != 0 {
		t.Errorf("histogram is %v, want zeros", h)
	}
	for name, join := range map[string]func(Array) error{"Sum": a.Sum, "Max": a.Max, "Min": a.Min} {
		if err := join(empty); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, resize := range map[string]func(r, group uint64) (Array, error){"Fold": a.Fold, "Unfold": a.Unfold} {
		for _, r := range []uint64{1, 7, ^uint64(0)} {
			for _, group := range []uint64{1, 64, 512, ^uint64(0)} {
				if b, err := resize(r, group); err != nil || !a.Equal(b) {
					t.Errorf("%s(%d, %d) = %v, %v", name, r, group, b, err)
				}
			}
		}
	}
	a.Clear()
	for i, b := range a.Blocks(8) {
		t.Errorf("block %d of an empty array: %v", i, b)
	}
	wantPanic(t, "cells: cell 0 of 0", func() { a.Get(0) })
}

func TestCloneAndClear(t *testing.T) {
	forWidths(t, func(t *testing.T, width uint) {
		a := packed(t, width, []uint64{1, 0, limitOf(width), 1, 1})
		b := a.Clone()
		if !a.Equal(b) {
			t.Fatal("a clone differs")
		}
		a.Clear()
		wantCells(t, a, make([]uint64, 5))
		wantCells(t, b, []uint64{1, 0, limitOf(width), 1, 1})
		if a.Equal(b) {
			t.Error("arrays with other cells are equal")
		}
	})
}

func TestEqualLooksAtShape(t *testing.T) {
	a := Array{64, 1, make([]uint64, 1)}
	for _, b := range []Array{{63, 1, make([]uint64, 1)}, {64, 2, make([]uint64, 2)}, {32, 2, make([]uint64, 1)}} {
		if a.Equal(b) {
			t.Errorf("%d cells of %d bits equal %d of %d", a.Len, a.Width, b.Len, b.Width)
		}
	}
}

func TestBlocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 50).Draw(t, "words")
		size := rapid.IntRange(1, 60).Draw(t, "block")
		a := Array{uint64(n) * 64, 1, make([]uint64, n)}
		next := 0
		for i, b := range a.Blocks(size) {
			if i != next || len(b) != min(size, n-i*size) || &b[0] != &a.Words[i*size] {
				t.Fatalf("block %d has %d words", i, len(b))
			}
			next++
		}
		if want := (n + size - 1) / size; next != want {
			t.Fatalf("%d blocks, want %d", next, want)
		}
		for range a.Blocks(size) {
			break
		}
	})
}

func wantPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := recover(); got != want {
			t.Errorf("panic is %v, want %q", got, want)
		}
	}()
	f()
}

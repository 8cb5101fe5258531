package cells

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The tests compare arrays with a plain model: a slice with one element per cell.

var widths = []uint{1, 2, 4, 8, 16, 32, 64}

func forWidths(t *testing.T, f func(t *testing.T, width uint)) {
	for _, width := range widths {
		t.Run(fmt.Sprintf("width=%d", width), func(t *testing.T) { f(t, width) })
	}
}

// packed returns the array of these cells.
func packed(t testing.TB, width uint, model []uint64) Array {
	t.Helper()
	a, err := New(uint64(len(model)), width)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range model {
		a.Put(uint64(i), v)
	}
	return a
}

func unpacked(a Array) []uint64 {
	model := make([]uint64, a.Len)
	for i := range model {
		model[i] = a.Get(uint64(i))
	}
	return model
}

// wantCells fails unless a is well formed and has the model's cells.
func wantCells(t rapid.TB, a Array, want []uint64) {
	t.Helper()
	if err := a.Check(); err != nil {
		t.Fatal(err)
	}
	if got := unpacked(a); !slices.Equal(got, want) {
		t.Fatalf("cells of %d bits are %v, want %v", a.Width, got, want)
	}
}

func wantShapeError(t testing.TB, err error) {
	t.Helper()
	if !errors.Is(err, ErrShape) {
		t.Errorf("error is %v, want one that wraps ErrShape", err)
	}
}

func limitOf(width uint) uint64 { return ^uint64(0) >> (64 - width) }

// plus is the saturating sum of two cells.
func plus(x, y, limit uint64) uint64 { return x + min(y, limit-x) }

// drawCell prefers the values at which operations behave differently: zero, one, the middle, the
// maximum and its neighbors.
func drawCell(width uint) *rapid.Generator[uint64] {
	limit := limitOf(width)
	edges := []uint64{0, 0, 1, limit / 2, limit/2 + 1, limit - 1, limit}
	return rapid.OneOf(rapid.SampledFrom(edges), rapid.Uint64Max(limit))
}

func drawCells(t *rapid.T, label string, width uint, n int) []uint64 {
	return rapid.SliceOfN(drawCell(width), n, n).Draw(t, label)
}

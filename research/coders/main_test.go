package main

import (
	"bytes"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// golomb counts the bits that Golomb's code has, written digit by digit.
func TestGolomb(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 5))
	for range 200 {
		span := 1 + r.Uint64N(1<<r.IntN(11))
		var values []uint64
		for range r.IntN(200) {
			values = append(values, r.Uint64N(span))
		}
		slices.Sort(values)
		values = slices.Compact(values)
		least := ^uint64(0)
		for m := range span {
			least = min(least, written(values, m+1))
		}
		if got := golomb(values, span); len(values) > 0 && (got < least || float64(got) > 1.02*float64(least)+float64(bits.Len64(span))) {
			t.Errorf("%d of %d values take %d bits; with the best parameter %d", len(values), span, got, least)
		}
	}
	if got, want := golomb([]uint64{0, 1, 2, 3}, 4), written([]uint64{0, 1, 2, 3}, 1); got != want {
		t.Errorf("all of 4 values take %d bits, want %d", got, want)
	}
}

// written returns the length of the code of ascending values with parameter m.
func written(values []uint64, m uint64) uint64 {
	var code strings.Builder
	next := uint64(0)
	for _, v := range values {
		gap := v - next
		next = v + 1
		code.WriteString(strings.Repeat("1", int(gap/m)) + "0")
		log := bits.Len64(m - 1)
		if rest := gap % m; rest < 1<<log-m {
			code.WriteString(strings.Repeat("x", max(log-1, 0)))
		} else {
			code.WriteString(strings.Repeat("x", log))
		}
	}
	return uint64(code.Len())
}

// The report has a row for each set and change, and umbel's messages are not below the bound of any filter.
func TestReport(t *testing.T) {
	var out bytes.Buffer
	if err := report(t.Context(), &out, 100); err != nil {
		t.Fatal(err)
	}
	if rows := strings.Count(out.String(), "\n| 100 |"); rows != 5+9 {
		t.Errorf("%d rows, want 14:\n%s", rows, &out)
	}
	row, err := setRow(t.Context(), programs{}, 1000, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	for i, size := range row[1:6] {
		if size < row[0] {
			t.Errorf("%s: %d bytes, below the bound of %d", setColumns[i+3], size, row[0])
		}
	}
	for i, size := range row[7:] {
		if size != 0 {
			t.Errorf("%s: %d bytes without the program", setColumns[i+9], size)
		}
	}
}

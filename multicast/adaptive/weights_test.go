package adaptive

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/umbel-filters/umbel"
)

func TestReadWeights(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want Weights
		says string
		is   error
	}{
		"in order":      {"1 5\n2 3\n3 1\n", Weights{5, 3, 1}, "", nil},
		"any order":     {"3 1\n\n# more\n1,5\n", Weights{5, 0, 1}, "", nil},
		"no end":        {"\t2   7", Weights{0, 7}, "", nil},
		"zero at last":  {"1 1\n9 0\n", Weights{1}, "", nil},
		"a line's end":  {"1 1\r\n2 2\r\n", Weights{1, 2}, "", nil},
		"a mark":        {"\ufeff1 1\n2 2\n", Weights{1, 2}, "", nil},
		"nothing":       {"", nil, "0", umbel.ErrCorrupt},
		"zeros":         {"1 0\n2 0\n", nil, "2", umbel.ErrCorrupt},
		"one field":     {"1 1\n2\n", nil, "line 2", umbel.ErrCorrupt},
		"three fields":  {"1 1 1\n", nil, "3", umbel.ErrCorrupt},
		"twice":         {"1 1\n2 2\n1 1", nil, "line 3", umbel.ErrCorrupt},
		"twice, zero":   {"1 0\n1 1", nil, "line 2", umbel.ErrCorrupt},
		"no links":      {"0 1\n", nil, `"0"`, umbel.ErrCorrupt},
		"minus":         {"-1 1\n", nil, `"-1"`, umbel.ErrCorrupt},
		"a part":        {"1 1.5\n", nil, `"1.5"`, umbel.ErrCorrupt},
		"many links":    {"4097 1\n", nil, "4096", umbel.ErrLimit},
		"far too many":  {"99999999999999999999999999 1\n", nil, "4096", umbel.ErrLimit},
		"large":         {"1 9007199254740992\n2 1\n", nil, "2^53", umbel.ErrCorrupt},
		"no number":     {"1 18446744073709551616\n", nil, "18446744073709551616", umbel.ErrCorrupt},
		"a long line":   {"1 1\n#" + strings.Repeat(" ", 300), nil, "line 2", umbel.ErrCorrupt},
		"a long number": {strings.Repeat("x", 100) + " 1", nil, "…", umbel.ErrCorrupt},
	} {
		got, err := ReadWeights(strings.NewReader(c.text))
		if !slices.Equal(got, c.want) || !errors.Is(err, c.is) || c.is != nil && !strings.Contains(fmt.Sprint(err), c.says) {
			t.Errorf("%s: %d, %v, want %d, %v with %q", name, got, err, c.want, c.is, c.says)
		}
	}
	if _, err := ReadWeights(io.MultiReader(strings.NewReader("1 1\n"), iotest.ErrReader(io.ErrClosedPipe))); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("%v, want %v", err, io.ErrClosedPipe)
	}
}

// FuzzReadWeights: ReadWeights reads inputs of any length line by line.
func FuzzReadWeights(f *testing.F) {
	for _, s := range []string{"1 5\n2 3\n", "3,1\n# c\n\n1 5", "4096 1", "1 1\n1 1", "0 0", "1 18446744073709551615"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		w, err := ReadWeights(strings.NewReader(s))
		if err != nil {
			if !errors.Is(err, umbel.ErrCorrupt) && !errors.Is(err, umbel.ErrLimit) {
				t.Fatalf("%v, want an error that wraps %q or %q", err, umbel.ErrCorrupt, umbel.ErrLimit)
			}
			return
		}
		if err := w.Check(); err != nil {
			t.Fatal(err)
		}
		var lines strings.Builder
		for i, c := range w {
			fmt.Fprintln(&lines, i+1, c)
		}
		if again, err := ReadWeights(strings.NewReader(lines.String())); err != nil || !slices.Equal(again, w) {
			t.Fatalf("%d becomes %d, %v", w, again, err)
		}
	})
}

func TestMean(t *testing.T) {
	l := Lengths{10, 20, 40}
	near(t, "mean", l.Mean(Weights{2, 1, 1}), 20, 0)
	near(t, "mean of the first two", l.Mean(Weights{1, 3}), 17.5, 0)
	if m := l.Mean(Uniform(4)); !math.IsNaN(m) {
		t.Errorf("the mean with a missing length is %g, want NaN", m)
	}
	if m := l.Mean(nil); !math.IsNaN(m) {
		t.Errorf("the mean of none is %g, want NaN", m)
	}
	near(t, "tails", Weights{1, 2, 1}.Tails()[1], 0.75, 0)
}

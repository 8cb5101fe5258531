package adaptive

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/umbel-filters/umbel"
)

// Weights say how often there are how many links: Weights[i-1] is in proportion to
// c_i, the share of filters that hold i links (equation (2)). The last one isn't zero,
// since a design has to know what filters of the largest size cost.
type Weights []uint64

// Uniform returns the weights of 1 to n links that are all as frequent.
func Uniform(n int) Weights {
	w := make(Weights, max(0, n))
	for i := range w {
		w[i] = 1
	}
	return w
}

// Inverse returns the weights of 1 to n links with c_i in proportion to 1/i: as many
// filters of 1 link as of 2 and 3 together, or 4 to 7. They are 2^32/i, rounded down.
func Inverse(n int) Weights {
	w := make(Weights, max(0, n))
	for i := range w {
		w[i] = 1 << 32 / uint64(i+1)
	}
	return w
}

// Check returns an error that wraps [umbel.ErrGoal] if there are no weights or more
// than [MaxLinks], the last is zero, or the sum is above 2^53.
func (w Weights) Check() error {
	if len(w) < 1 || len(w) > MaxLinks {
		return fmt.Errorf("adaptive: %d weights, want 1 to %d: %w", len(w), MaxLinks, umbel.ErrGoal)
	}
	left := uint64(1 << 53)
	for i, c := range w {
		if c > left {
			return fmt.Errorf("adaptive: the weights of 1 to %d links are above 2^53 together; divide all by one number: %w", i+1, umbel.ErrGoal)
		}
		left -= c
	}
	if w[len(w)-1] == 0 {
		return fmt.Errorf("adaptive: the weight of %d links, the last one, is 0; give it a small one, or fewer weights: %w", len(w), umbel.ErrGoal)
	}
	return nil
}

// sum returns the sum of all, exact up to 2^53.
func (w Weights) sum() (sum float64) {
	for _, c := range w {
		sum += float64(c)
	}
	return sum
}

// tails returns C_t, the share of filters with at least t links, at t-1.
func (w Weights) tails() []float64 {
	tails := make([]float64, len(w))
	all, sum := w.sum(), 0.0
	for i := len(w) - 1; i >= 0; i-- {
		sum += float64(w[i])
		tails[i] = sum / all
	}
	return tails
}

// Lengths are the bits of filters of 1, 2, … links.
type Lengths []float64

// Mean returns the mean length if there are as many links as the weights say: C of
// equation (2). It is NaN if there are fewer lengths than weights, or none.
func (l Lengths) Mean(w Weights) float64 {
	if len(l) < len(w) {
		return math.NaN()
	}
	sum := 0.0
	for i, c := range w {
		sum += float64(c) * l[i]
	}
	return sum / w.sum()
}

// maxLine is the length of a line of a histogram that is read.
const maxLine = 256

// ReadWeights reads a histogram: each line has a number of links and how often there
// were so many, separated by blanks or one comma. Lines that are empty or begin with #
// are left out; sizes may come in any order, and each at most once. Sizes that don't
// come, below the largest, have a weight of zero.
//
// Errors name the line. Those of what is written wrap [umbel.ErrCorrupt], or
// [umbel.ErrLimit] for more than [MaxLinks] links; the reader's own are passed on. What
// is read takes no more memory than [MaxLinks] numbers, however long it is.
func ReadWeights(r io.Reader) (Weights, error) {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 0, maxLine+2), maxLine+2)
	var w Weights
	seen := make([]bool, MaxLinks)
	line := 0
	for in.Scan() {
		line++
		text := strings.TrimSpace(in.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		links, times, err := parseLine(text)
		if err != nil {
			return nil, fmt.Errorf("adaptive: weights, line %d: %w", line, err)
		}
		if seen[links-1] {
			return nil, fmt.Errorf("adaptive: weights, line %d: %d links come a second time, want once: %w", line, links, umbel.ErrCorrupt)
		}
		seen[links-1] = true
		if times == 0 {
			continue
		}
		for len(w) < links {
			w = append(w, 0)
		}
		w[links-1] = times
	}
	switch err := in.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("adaptive: weights, line %d has more than %d characters, want a size and a count: %w", line+1, maxLine, umbel.ErrCorrupt)
	case err != nil:
		return nil, fmt.Errorf("adaptive: weights, after line %d: %w", line, err)
	case len(w) == 0:
		return nil, fmt.Errorf("adaptive: no weights in %d lines, want \"links count\" in at least one: %w", line, umbel.ErrCorrupt)
	}
	if err := w.Check(); err != nil {
		return nil, fmt.Errorf("%w: %w", err, umbel.ErrCorrupt)
	}
	return w, nil
}

func parseLine(text string) (links int, times uint64, err error) {
	fields := strings.Fields(strings.Replace(text, ",", " ", 1))
	if len(fields) != 2 {
		return 0, 0, fmt.Errorf("%q has %d fields, want a number of links and a count: %w", clip(text), len(fields), umbel.ErrCorrupt)
	}
	size, err := strconv.ParseUint(fields[0], 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange) || err == nil && size > MaxLinks:
		return 0, 0, fmt.Errorf("%s links, want at most %d: %w", clip(fields[0]), MaxLinks, umbel.ErrLimit)
	case err != nil || size == 0:
		return 0, 0, fmt.Errorf("%q links, want a whole number from 1: %w", clip(fields[0]), umbel.ErrCorrupt)
	}
	times, err = strconv.ParseUint(fields[1], 10, 64)
	if err != nil {
		return 0, 0, fmt.Errorf("a count of %q, want a whole number from 0 to 2^53: %w", clip(fields[1]), umbel.ErrCorrupt)
	}
	return int(size), times, nil
}

// clip shortens what a stranger wrote before it goes into an error.
func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}

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
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Weights are the frequencies of the numbers of links: Weights[i-1] is proportional to
// c_i, the share of filters with i links (equation (2)). The last weight must not be
// zero, because otherwise the largest filters would have no cost.
type Weights []uint64

// Uniform returns the weights of 1 to n links that are equally frequent.
func Uniform(n int) Weights {
	w := make(Weights, max(0, n))
	for i := range w {
		w[i] = 1
	}
	return w
}

// Inverse returns the weights of 1 to n links with c_i proportional to 1/i: there are
// about as many filters of 1 link as of 2 and 3 together, or of 4 to 7. The weights are
// 2^32/i, rounded down.
func Inverse(n int) Weights {
	w := make(Weights, max(0, n))
	for i := range w {
		w[i] = 1 << 32 / uint64(i+1)
	}
	return w
}

// Check returns an error wrapping [umbel.ErrGoal] if w is empty or has more than
// [MaxLinks] weights, if the last weight is zero, or if the sum is above 2^53.
func (w Weights) Check() error {
	if len(w) < 1 || len(w) > MaxLinks {
		return sentinel.Errorf(umbel.ErrGoal, "%d weights, want 1 to %d", len(w), MaxLinks)
	}
	left := uint64(1 << 53)
	for i, c := range w {
		if c > left {
			return sentinel.Errorf(umbel.ErrGoal, "the weights of 1 to %d links sum to more than 2^53; divide all weights by one number", i+1)
		}
		left -= c
	}
	if w[len(w)-1] == 0 {
		return sentinel.Errorf(umbel.ErrGoal, "the last weight, that of %d links, is 0; make it positive or remove it", len(w))
	}
	return nil
}

// sum returns the sum of all weights, exact up to 2^53.
func (w Weights) sum() (sum float64) {
	for _, c := range w {
		sum += float64(c)
	}
	return sum
}

// Tails returns the shares of filters with at least t links: C_t at index t-1.
func (w Weights) Tails() []float64 {
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

// Mean returns the mean length of filters whose numbers of links have the weights w: C
// of equation (2). It returns NaN if l is shorter than w, or w is empty.
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

// AnyLength returns the bits of plain Bloom filters of 1 to n links at a rate, each of
// the least length with the best k, by the formula for independent cells:
// 1/(1-(1-rate^(1/k))^(1/(ki))) for i links. It is the length of a header for routers that map
// hashes to any length. It returns an error wrapping [umbel.ErrGoal] if n or the rate is
// outside the limits of a design.
func AnyLength(n int, rate float64) (Lengths, error) {
	if err := checkGoal(n, rate); err != nil {
		return nil, err
	}
	l := make(Lengths, n)
	for i := range l {
		l[i] = math.Inf(1)
		for k := 1.0; k <= math.Ceil(-math.Log2(rate))+1; k++ {
			zero := math.Log1p(-math.Pow(rate, 1/k)) / (k * float64(i+1)) // logarithm of 1 - 1/m
			l[i] = min(l[i], math.Ceil(-1/math.Expm1(zero)-1e-9))
		}
	}
	return l, nil
}

// Bound returns a lower bound on the bits of filters of 1 to n links in any
// representation: i·log2(1/rate) bits for i links among many more. It returns an error
// wrapping [umbel.ErrGoal] if n or the rate is outside the limits of a design.
func Bound(n int, rate float64) (Lengths, error) {
	if err := checkGoal(n, rate); err != nil {
		return nil, err
	}
	l := make(Lengths, n)
	for i := range l {
		l[i] = -float64(i+1) * math.Log2(rate)
	}
	return l, nil
}

// maxLine is the largest length of a line of a histogram.
const maxLine = 256

// ReadWeights reads a histogram. Each line contains a number of links and its
// frequency, separated by blanks or one comma. Empty lines and lines that begin with #
// are skipped. Sizes may come in any order, each at most once. Sizes below the largest
// that don't appear have the weight zero. A byte order mark at the beginning is skipped.
//
// Errors contain the line number. They wrap [umbel.ErrCorrupt] if the text is malformed,
// [umbel.ErrLimit] if it has more than [MaxLinks] links, or the error of r. Memory use is
// bounded by [MaxLinks] numbers, regardless of the length of the input.
func ReadWeights(r io.Reader) (Weights, error) {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 0, maxLine+2), maxLine+2)
	var w Weights
	seen := make([]bool, MaxLinks)
	line := 0
	for in.Scan() {
		line++
		text := in.Text()
		if line == 1 {
			text = strings.TrimPrefix(text, "\ufeff") // a byte order mark
		}
		text = strings.TrimSpace(text)
		if text == "" || text[0] == '#' {
			continue
		}
		links, times, err := parseLine(text)
		if err != nil {
			return nil, fmt.Errorf("weights, line %d: %w", line, err)
		}
		if seen[links-1] {
			return nil, sentinel.Errorf(umbel.ErrCorrupt, "weights, line %d: a second line for %d links", line, links)
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
		return nil, sentinel.Errorf(umbel.ErrCorrupt, "weights, line %d has more than %d characters", line+1, maxLine)
	case err != nil:
		return nil, fmt.Errorf("weights, after line %d: %w", line, err)
	case len(w) == 0:
		return nil, sentinel.Errorf(umbel.ErrCorrupt, "no weights in %d lines, want \"links count\" in at least one", line)
	}
	if err := w.Check(); err != nil {
		return nil, sentinel.Wrap(umbel.ErrCorrupt, err)
	}
	return w, nil
}

func parseLine(text string) (links int, times uint64, err error) {
	fields := strings.Fields(strings.Replace(text, ",", " ", 1))
	if len(fields) != 2 {
		return 0, 0, sentinel.Errorf(umbel.ErrCorrupt, "%q has %d fields, want a number of links and a count", clip(text), len(fields))
	}
	size, err := strconv.ParseUint(fields[0], 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange) || err == nil && size > MaxLinks:
		return 0, 0, sentinel.Errorf(umbel.ErrLimit, "%s links, want at most %d", clip(fields[0]), MaxLinks)
	case err != nil || size == 0:
		return 0, 0, sentinel.Errorf(umbel.ErrCorrupt, "%q links, want a whole number from 1", clip(fields[0]))
	}
	times, err = strconv.ParseUint(fields[1], 10, 64)
	if err != nil {
		return 0, 0, sentinel.Errorf(umbel.ErrCorrupt, "a count of %q, want a whole number from 0 to 2^53", clip(fields[1]))
	}
	return int(size), times, nil
}

// clip shortens untrusted text for an error.
func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}

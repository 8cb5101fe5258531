package window

import (
	"errors"
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/internal/arrays"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/plan"
)

// Advance sets the time, in ticks: see [umbel.Advancer]. A new filter has time 0. A key
// that was added at time t is present until t + l·Ticks, and has expired from t + (l+1)·Ticks
// on. A key that has just expired is a false positive more often than one that was never
// added: j generations later with probability r^j at least, where r is the fill ratio of
// the slices, about a half. If to is before the last time, the error wraps
// umbel.ErrMismatch and the filter is unchanged. In a filter by keys, the error wraps
// errors.ErrUnsupported.
func (f *Filter) Advance(to uint64) error {
	switch {
	case f.cells.Len == 0:
		return sentinel.Errorf(umbel.ErrMismatch, "window: a zero Filter has no clock: make it with New")
	case f.shape.byKeys():
		return sentinel.Errorf(errors.ErrUnsupported, "window: a window by keys has no clock")
	case to < f.now:
		return sentinel.Errorf(umbel.ErrMismatch, "window: time %d is before %d, the last one", to, f.now)
	}
	f.shift(to/f.shape.Ticks - f.generation())
	f.now = to
	return nil
}

// Now returns the time of the last Advance; by keys, the number of generations that have
// ended, at most 2^62: see spec/kinds/window.md.
func (f *Filter) Now() uint64 { return f.now }

// Tick returns the length of a tick in nanoseconds if they are counted from 1970-01-01T00:00:00Z, so that a
// program can advance the filter to the present, and 0 if the caller of Advance chose unit and origin.
func (f *Filter) Tick() uint64 { return f.tick }

// SetTick sets what Tick returns, at most 2^63-1; 0 means that unit and origin are unknown. It changes neither
// cells, time nor ID. SetTick panics if ns is larger, or above 0 in a filter by keys.
func (f *Filter) SetTick(ns uint64) {
	if ns > math.MaxInt64 || ns > 0 && f.shape.byKeys() {
		panic("umbel: SetTick of more than 2^63-1 nanoseconds, or of a window by keys")
	}
	f.tick = ns
}

// shift begins the given number of generations: it clears as many slices after the newest
// one. The caller changes the clock.
func (f *Filter) shift(generations uint64) {
	n := uint64(f.shape.slices())
	if generations == 0 {
		return
	}
	newest := f.newest()
	for range min(generations, n) {
		newest = (newest + 1) % n
		clearBits(f.cells, newest*f.shape.Slice, f.shape.Slice)
	}
	f.ones = 0
}

// clearBits clears n cells, from cell from on.
func clearBits(a cells.Array, from, n uint64) {
	for end := from + n; from < end; {
		word, next := from>>6, min(end, from|63+1)
		if from&63 != 0 || next&63 != 0 {
			a.Words[word] &^= (1<<(next-from) - 1) << (from & 63)
			from = next
			continue
		}
		last := end >> 6
		clear(a.Words[word:last])
		from = last << 6
	}
}

// onesIn counts the nonzero cells among n, from cell from on.
func onesIn(a cells.Array, from, n uint64) uint64 {
	var ones uint64
	for end := from + n; from < end; {
		if from&63 == 0 && end-from >= 64 {
			whole := cells.Array{Len: (end - from) &^ 63, Width: 1, Words: a.Words[from>>6 : end>>6]}
			ones += whole.Nonzero()
			from += whole.Len
			continue
		}
		if a.Bit(from) {
			ones++
		}
		from++
	}
	return ones
}

// Merge adds the keys of another filter by time with the same shape. The clock becomes the
// later of the two, and keys that have expired by then are left out. Both need the same Tick. The error wraps
// umbel.ErrMismatch and contains the first difference. Filters by keys don't merge, because
// their generations ended at different moments.
func (f *Filter) Merge(s umbel.State) error {
	g, err := arrays.Other(f.State(), s, Open)
	if err != nil {
		return err
	}
	a, b := f.shape, g.shape
	switch {
	case a.byKeys() || b.byKeys():
		return sentinel.Errorf(umbel.ErrMismatch, "window: windows by keys don't merge, their generations ended at different moments")
	case a.K != b.K || a.L != b.L:
		return sentinel.Errorf(umbel.ErrMismatch, "window: one filter has k = %d and l = %d, the other %d and %d", a.K, a.L, b.K, b.L)
	case a.Slice != b.Slice || a.Group != b.Group:
		return sentinel.Errorf(umbel.ErrMismatch, "window: one filter has slices of %d cells in groups of 2^%d, the other of %d and 2^%d",
			a.Slice, a.Group, b.Slice, b.Group)
	case a.Ticks != b.Ticks || a.Limit != b.Limit:
		return sentinel.Errorf(umbel.ErrMismatch, "window: one filter has generations of %d ticks and %d keys, the other of %d and %d",
			a.Ticks, a.Limit, b.Ticks, b.Limit)
	case f.tick != g.tick:
		return sentinel.Errorf(umbel.ErrMismatch, "window: ticks of one filter are %s, those of the other %s", tickWords(f.tick), tickWords(g.tick))
	}
	if g.now < f.now { // the other filter must not change
		g.cells = g.cells.Clone()
		err = g.Advance(f.now)
	} else {
		err = f.Advance(g.now)
	}
	if err != nil {
		return err
	}
	if err := f.cells.Sum(g.cells); err != nil {
		return sentinel.Errorf(umbel.ErrMismatch, "window: %w", err)
	}
	f.ones = f.onesOf(0)
	return nil
}

// tickWords describes the ticks of a filter.
func tickWords(ns uint64) string {
	if ns == 0 {
		return "numbers that a program chose"
	}
	return fmt.Sprintf("of %d ns since 1970", ns)
}

// onesOf counts the nonzero cells of the slice with the given age.
func (f *Filter) onesOf(age int) uint64 {
	return onesIn(f.cells, f.place(f.newest(), age)*f.shape.Slice, f.shape.Slice)
}

func (f *Filter) crowded() error {
	keys := func(ones uint64) float64 { return plan.Filter{M: f.shape.Slice, K: 1}.Keys(ones).Value }
	return sentinel.Errorf(umbel.ErrLimit, "window: the present generation is full: it has about %.0f keys of the %.0f that it is planned for, "+
		"its share of the window; advance the clock, or make a larger filter",
		keys(f.ones), keys(f.shape.Limit))
}

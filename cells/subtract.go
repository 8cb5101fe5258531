package cells

import (
	"errors"
	"fmt"
)

// ErrLess is wrapped by the error of [Array.Subtract].
var ErrLess = errors.New("less than is taken from it")

// Subtract takes from each cell of a that of b; a cell of a at its maximum, and so of
// unknown value, stays. It returns an error, and leaves a as it was, if a cell of b
// is larger than that of a: the error then wraps [ErrLess] and says the first such
// cell; or if the arrays differ in length or width, when it wraps [ErrShape].
func (a Array) Subtract(b Array) error {
	if err := a.same(b); err != nil {
		return err
	}
	l := newLanes(a.width())
	y := b.Words[:len(a.Words)]
	for i, x := range a.Words {
		if l.atLeast(x, y[i]) != ^uint64(0) {
			return a.less(b, uint64(i)*64/uint64(a.width()))
		}
	}
	for i, x := range a.Words {
		full := ^l.nonzero(^x)
		a.Words[i] = x - y[i] | l.spread(full) // no lane borrows from the next
	}
	return nil
}

// less returns the error about the first cell from i on that is less than b's.
func (a Array) less(b Array, i uint64) error {
	for a.Get(i) >= b.Get(i) {
		i++
	}
	return fmt.Errorf("cells: cell %d is %d, and %d are to be taken from it: %w", i, a.Get(i), b.Get(i), ErrLess)
}

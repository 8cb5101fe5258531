package cells

import "fmt"

// same returns an error that wraps ErrShape unless a and b have the same length
// and width.
func (a Array) same(b Array) error {
	if a.Len != b.Len || a.width() != b.width() {
		return fmt.Errorf("cells: %d cells of %d bits with %d of %d: %w", a.Len, a.width(), b.Len, b.width(), ErrShape)
	}
	return nil
}

// Sum adds each cell of b to that of a, stopping at the maximum; for bits it is
// the OR. It returns an error that wraps [ErrShape], and leaves a as it was, unless
// the arrays have the same length and width.
func (a Array) Sum(b Array) error {
	if err := a.same(b); err != nil {
		return err
	}
	newLanes(a.width()).add(a.Words, b.Words)
	return nil
}

// Max sets each cell of a to the larger of it and that of b; for bits it is the
// OR. Errors are those of Sum.
func (a Array) Max(b Array) error { return a.selectLanes(b, 0) }

// Min sets each cell of a to the smaller of it and that of b; for bits it is the
// AND. Errors are those of Sum.
func (a Array) Min(b Array) error { return a.selectLanes(b, ^uint64(0)) }

// selectLanes keeps the larger of two cells, or the smaller if flip is all ones.
func (a Array) selectLanes(b Array, flip uint64) error {
	if err := a.same(b); err != nil {
		return err
	}
	l := newLanes(a.width())
	y := b.Words[:len(a.Words)]
	for i, x := range a.Words {
		keep := l.atLeast(x, y[i]) ^ flip
		a.Words[i] = x&keep | y[i]&^keep
	}
	return nil
}

// Xor sets each word of a to its exclusive or with that of b. Errors are those of
// Sum.
func (a Array) Xor(b Array) error {
	if err := a.same(b); err != nil {
		return err
	}
	y := b.Words[:len(a.Words)]
	for i := range a.Words {
		a.Words[i] ^= y[i]
	}
	return nil
}

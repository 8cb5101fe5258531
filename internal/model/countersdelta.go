package model

import (
	"fmt"

	"github.com/umbel-filters/umbel/cells"
)

// A block of counters of which the reader has the old one is coded by what changes.
// The class of a counter is what it was, or 3 if it was more: how likely it changes,
// and which way, depends on that.
//
//	header    a byte L1, 0..63: of the list of rises; a byte L2: of the list of falls
//	strings   4: of class 0 to 3, a bit for each counter: whether it changes
//	          3: of class 1 to 3, a bit for each that changes: whether it rises
//	          2·L1: by how much those rise that do, a list as in gamma.go
//	          2·L2: by how much those of class 2 and 3 fall that do
//
// What changes in class 0 rises, what falls in class 1 falls by 1.
const classes = 4

// changes are a block's counters that change, as arrays of bits, one for each class.
type changes struct {
	class   [classes][]uint64 // the counters of the class
	changed [classes][]uint64
	rises   [classes][]uint64
}

func (c *Coder) classify(old cells.Array) (s changes) {
	rest := old
	rest.Words = c.take(len(old.Words))
	copy(rest.Words, old.Words)
	s.class[0] = c.all(old.Len)
	for k := 1; k < classes; k++ {
		s.class[k] = c.take(len(s.class[0]))
		nonzero(s.class[k], rest)
		decrement(rest)
		for i, w := range s.class[k] {
			s.class[k-1][i] &^= w
		}
	}
	return s
}

func (c *Coder) appendCountersDelta(dst []byte, old, block cells.Array) []byte {
	s := c.classify(old)
	flips := old
	flips.Words = c.take(len(old.Words))
	for i, w := range old.Words {
		flips.Words[i] = w ^ block.Words[i]
	}
	changed, rises := c.take(len(s.class[0])), c.takeZero(len(s.class[0]))
	nonzero(changed, flips)
	rising, falling := c.list, c.other
	for i := range under(changed) {
		switch was, is := old.Get(i), block.Get(i); {
		case is > was:
			rises[i/64] |= 1 << (i % 64)
			rising = append(rising, is-was)
		case was > 1:
			falling = append(falling, was-is)
		}
	}
	c.list, c.other = rising, falling
	for k := range s.class {
		c.give(changed, s.class[k])
	}
	for k := range s.class {
		for i, w := range changed {
			s.class[k][i] &= w
		}
		if k > 0 {
			c.give(rises, s.class[k])
		}
	}
	l1, l2 := c.giveNumbers(rising), c.giveNumbers(falling)
	return c.coder.Append(append(dst, byte(l1), byte(l2)), c.strs...)
}

func (c *Coder) decodeCountersDelta(src []byte, old, block cells.Array) error {
	if len(src) < 2 || src[0] > maxLength || src[1] > maxLength {
		return fmt.Errorf("model: header % x, want two bytes up to %d: %w", src[:min(2, len(src))], maxLength, ErrCorrupt)
	}
	l1, l2 := int(src[0]), int(src[1])
	if err := c.start(src[2:], classes+classes-1+2*l1+2*l2); err != nil {
		return err
	}
	s := c.classify(old)
	changed, rises := c.takeZero(len(s.class[0])), c.takeZero(len(s.class[0]))
	for k := range s.class {
		if err := c.getUnder(changed, s.class[k]); err != nil {
			return err
		}
	}
	for k := range s.class {
		for i, w := range changed {
			s.class[k][i] &= w
		}
		if k == 0 {
			copy(rises, s.class[0])
		} else if err := c.getUnder(rises, s.class[k]); err != nil {
			return err
		}
	}
	falls := uint64(0)
	for i := range s.class[0] {
		s.class[2][i] |= s.class[3][i]
		s.class[2][i] &^= rises[i]
	}
	falls = ones(s.class[2])
	var err error
	if c.list, err = c.getNumbers(c.list, ones(rises), l1); err != nil {
		return err
	}
	if c.other, err = c.getNumbers(c.other, falls, l2); err != nil {
		return err
	}
	if err := c.end(); err != nil {
		return err
	}
	copy(block.Words, old.Words)
	rising, falling := c.list, c.other
	for i := range under(changed) {
		was, bit := old.Get(i), uint64(1)<<(i%64)
		switch {
		case rises[i/64]&bit != 0:
			if rising[0] > block.Limit()-was {
				return fmt.Errorf("model: a counter of %d + %d, want %d at most: %w", was, rising[0], block.Limit(), ErrCorrupt)
			}
			block.Put(i, was+rising[0])
			rising = rising[1:]
		case was == 1:
			block.Put(i, 0)
		default:
			if falling[0] > was {
				return fmt.Errorf("model: a counter of %d - %d: %w", was, falling[0], ErrCorrupt)
			}
			block.Put(i, was-falling[0])
			falling = falling[1:]
		}
	}
	return nil
}

package model

import (
	"fmt"

	"github.com/umbel-filters/umbel/cells"
)

// A block of counters of which the reader has the old one is coded by what changes.
// The class of a counter is what it was, or 3 if it was more: how likely it changes,
// and which way, depends on that.
//
//	header    a byte L1, of the list of rises; a byte L2, of the list of falls; both are
//	          below the width
//	strings   4: of class 0 to 3, a bit for each counter: whether it changes
//	          3: of class 1 to 3, a bit for each that changes: whether it rises
//	          2·L1: a list as in gamma.go: by how much each counter rises that does
//	          2·L2: a list: by how much each counter of class 2 or 3 falls that does
//
// The lists are in the order of the cells, whatever their class. What changes in class
// 0 rises, and what falls in class 1 falls by 1.
const classes = 4

// classify returns the counters of each class, as arrays of bits.
func (c *Modeler) classify(old cells.Array) (class [classes][]uint64) {
	rest := old
	rest.Words = c.take(len(old.Words))
	copy(rest.Words, old.Words)
	class[0] = c.all(old.Len)
	for k := 1; k < classes; k++ {
		class[k] = c.take(len(class[0]))
		peel(class[k], rest)
		for i, w := range class[k] {
			class[k-1][i] &^= w
		}
	}
	return class
}

func (c *Modeler) appendCountersDelta(dst []byte, old, block cells.Array) []byte {
	class := c.classify(old)
	changed, rises := c.take(len(class[0])), c.takeZero(len(class[0]))
	differ(changed, old, block)
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
	for k := range class {
		c.give(changed, class[k])
	}
	for k := range class {
		for i, w := range changed {
			class[k][i] &= w
		}
		if k > 0 {
			c.give(rises, class[k])
		}
	}
	l1, l2 := c.giveNumbers(rising), c.giveNumbers(falling)
	return c.coder.Append(append(dst, byte(l1), byte(l2)), c.strs...)
}

func (c *Modeler) decodeCountersDelta(src []byte, old, block cells.Array) error {
	if len(src) < 2 || max(src[0], src[1]) >= byte(block.Width) {
		return fmt.Errorf("model: header % x, want two bytes below %d: %w", src[:min(2, len(src))], block.Width, ErrCorrupt)
	}
	l1, l2 := int(src[0]), int(src[1])
	if err := c.start(src[2:], classes+classes-1+2*l1+2*l2); err != nil {
		return err
	}
	class := c.classify(old)
	changed, rises := c.takeZero(len(class[0])), c.takeZero(len(class[0]))
	for k := range class {
		if err := c.getUnder(changed, class[k]); err != nil {
			return err
		}
	}
	for k := range class {
		for i, w := range changed {
			class[k][i] &= w
		}
		if k == 0 {
			copy(rises, class[0])
		} else if err := c.getUnder(rises, class[k]); err != nil {
			return err
		}
	}
	for i := range class[0] {
		class[2][i] |= class[3][i]
		class[2][i] &^= rises[i]
	}
	var err error
	if c.list, err = c.getNumbers(c.list, ones(rises), l1); err != nil {
		return err
	}
	if c.other, err = c.getNumbers(c.other, ones(class[2]), l2); err != nil {
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

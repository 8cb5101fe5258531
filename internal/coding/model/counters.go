package model

import (
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// A block of counters is coded by thresholds and a list of what exceeds them (spec/codings.md,
// "Counters"). The format leaves the number of thresholds to the writer: this one continues up
// to the largest value, and changes to the list at maxThresholds, or if fewer than fewLeft
// counters are left, and one of them is farAbove or more above.
const (
	maxThresholds = 15
	fewLeft       = 16 // their strings cost more than they save
	farAbove      = 5  // a number so large is shorter by its length
)

func (c *Modeler) appendCounters(dst []byte, block cells.Array) []byte {
	rest := block // the counters minus the thresholds so far
	rest.Words = c.alloc(len(block.Words))
	copy(rest.Words, block.Words)
	mask, left := c.allOnes(block.Len), block.Len
	t, longest := 0, 0
	for {
		if t == maxThresholds || t > 0 && left < fewLeft && farthest(rest, mask) >= farAbove {
			for i := range under(mask) {
				c.list = append(c.list, rest.Get(i)+1)
			}
			longest = c.putNumbers(c.list)
			break
		}
		above := c.alloc(len(mask))
		if !peel(above, rest) {
			break
		}
		c.putString(above, mask)
		mask, left = above, ones(above)
		t++
	}
	dst = appendHeader(dst, t, longest)
	return c.coder.Append(dst, c.strs...)
}

// farthest returns the largest of the counters under mask.
func farthest(a cells.Array, mask []uint64) uint64 {
	v := uint64(0)
	for i := range under(mask) {
		v = max(v, a.Get(i))
	}
	return v
}

func (c *Modeler) decodeCounters(src []byte, block cells.Array) error {
	thresholds, longest, src, err := header(src)
	if err != nil {
		return err
	}
	if limit := block.Limit(); uint64(thresholds) > limit || longest >= int(block.Width) {
		return sentinel.Errorf(ErrCorrupt, "%d thresholds, lengths up to %d, for counters up to %d", thresholds, longest, limit)
	}
	if err := c.begin(src, thresholds+2*longest); err != nil {
		return err
	}
	clear(block.Words)
	mask := c.allOnes(block.Len)
	for range thresholds {
		above := c.allocZero(len(mask))
		if err := c.getStringUnder(above, mask); err != nil {
			return err
		}
		raise(block, above)
		mask = above
	}
	if longest > 0 {
		if c.list, err = c.getNumbers(c.list, ones(mask), longest); err != nil {
			return err
		}
		list := c.list
		for i := range under(mask) {
			v, more := uint64(thresholds), list[0]-1
			if more > block.Limit()-v {
				return sentinel.Errorf(ErrCorrupt, "a counter of %d + %d, want %d at most", v, more, block.Limit())
			}
			block.Put(i, v+more)
			list = list[1:]
		}
	}
	return c.finish()
}

func appendHeader(dst []byte, thresholds, longest int) []byte {
	h := thresholds + longest<<4
	if h < 128 {
		return append(dst, byte(h))
	}
	return append(dst, byte(h)|128, byte(h>>7))
}

func header(src []byte) (thresholds, longest int, rest []byte, err error) {
	size := 1
	if len(src) > 0 && src[0] >= 128 {
		size = 2
	}
	if len(src) < size {
		return 0, 0, nil, sentinel.Errorf(ErrCorrupt, "header of %d bytes cut at %d", size, len(src))
	}
	h := int(src[0])
	if size == 2 {
		h = h&127 | int(src[1])<<7
	}
	thresholds, longest = h&15, h>>4
	if size == 2 && h < 128 || longest > maxLength || thresholds == 0 && longest > 0 {
		return 0, 0, nil, sentinel.Errorf(ErrCorrupt, "header %#x in %d bytes", h, size)
	}
	return thresholds, longest, src[size:], nil
}

// A block of counters given the base is coded by its changes. The class of a counter is its
// value in the base, or 3 if that is larger (spec/codings.md, "Given the block of the base").
const classes = 4

// classify returns the counters of each class, as masks.
func (c *Modeler) classify(base cells.Array) (class [classes][]uint64) {
	rest := base
	rest.Words = c.alloc(len(base.Words))
	copy(rest.Words, base.Words)
	class[0] = c.allOnes(base.Len)
	for k := 1; k < classes; k++ {
		class[k] = c.alloc(len(class[0]))
		peel(class[k], rest)
		for i, w := range class[k] {
			class[k-1][i] &^= w
		}
	}
	return class
}

func (c *Modeler) appendCountersDelta(dst []byte, base, block cells.Array) []byte {
	class := c.classify(base)
	changed, rises := c.alloc(len(class[0])), c.allocZero(len(class[0]))
	differ(changed, base, block)
	rising, falling := c.list, c.other
	for i := range under(changed) {
		switch was, is := base.Get(i), block.Get(i); {
		case is > was:
			rises[i/64] |= 1 << (i % 64)
			rising = append(rising, is-was)
		case was > 1:
			falling = append(falling, was-is)
		}
	}
	c.list, c.other = rising, falling
	for k := range class {
		c.putString(changed, class[k])
	}
	for k := range class {
		for i, w := range changed {
			class[k][i] &= w
		}
		if k > 0 {
			c.putString(rises, class[k])
		}
	}
	l1, l2 := c.putNumbers(rising), c.putNumbers(falling)
	return c.coder.Append(append(dst, byte(l1), byte(l2)), c.strs...)
}

func (c *Modeler) decodeCountersDelta(src []byte, base, block cells.Array) error {
	if len(src) < 2 || max(src[0], src[1]) >= byte(block.Width) {
		return sentinel.Errorf(ErrCorrupt, "header % x, want two bytes below %d", src[:min(2, len(src))], block.Width)
	}
	l1, l2 := int(src[0]), int(src[1])
	if err := c.begin(src[2:], classes+classes-1+2*l1+2*l2); err != nil {
		return err
	}
	class := c.classify(base)
	changed, rises := c.allocZero(len(class[0])), c.allocZero(len(class[0]))
	for k := range class {
		if err := c.getStringUnder(changed, class[k]); err != nil {
			return err
		}
	}
	for k := range class {
		for i, w := range changed {
			class[k][i] &= w
		}
		if k == 0 {
			copy(rises, class[0])
		} else if err := c.getStringUnder(rises, class[k]); err != nil {
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
	if err := c.finish(); err != nil {
		return err
	}
	copy(block.Words, base.Words)
	rising, falling := c.list, c.other
	for i := range under(changed) {
		was, bit := base.Get(i), uint64(1)<<(i%64)
		switch {
		case rises[i/64]&bit != 0:
			if rising[0] > block.Limit()-was {
				return sentinel.Errorf(ErrCorrupt, "a counter of %d + %d, want %d at most", was, rising[0], block.Limit())
			}
			block.Put(i, was+rising[0])
			rising = rising[1:]
		case was == 1:
			block.Put(i, 0)
		default:
			if falling[0] > was {
				return sentinel.Errorf(ErrCorrupt, "a counter of %d - %d", was, falling[0])
			}
			block.Put(i, was-falling[0])
			falling = falling[1:]
		}
	}
	return nil
}

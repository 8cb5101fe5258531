package cells

import "math/bits"

// NonzeroWord returns word j of the array of bits in which cell i is set if cell i of a is not zero:
// the plain filter of a counting one. j is less than [WordsFor](a.Len, 1).
func (a Array) NonzeroWord(j int) uint64 {
	width := a.width()
	if width == 1 {
		return a.Words[j]
	}
	l := newLanes(width)
	words := a.Words[j*int(width):]
	var bits uint64
	for i, w := range words[:min(int(width), len(words))] {
		bits |= l.gather(l.nonzero(w)>>l.shift) << (i * 64 / int(width))
	}
	return bits
}

// gather moves the lowest bit of each lane of x to bits 0, 1, 2, …; the other bits of x are zero. It
// joins neighbors to pairs, these to fours, and so on. If its terms don't overlap, a product does
// all steps at once (Warren, Hacker's Delight, section 7-4).
func (l lanes) gather(x uint64) uint64 {
	switch l.shift {
	case 3:
		return gather4(x)
	case 7:
		return x * 0x0102040810204080 >> 56
	case 15:
		return x * (1<<60 | 1<<45 | 1<<30 | 1<<15) >> 60
	}
	for width, ones := l.shift+1, uint(1); width < 64; width, ones = width*2, ones*2 {
		x |= x >> (width - ones)
		x &= ^uint64(0) / (^uint64(0) >> (64 - width*2)) * (1<<(ones*2) - 1)
	}
	return x
}

// gather4 is gather for lanes of 4 bits, small enough to be inlined.
func gather4(x uint64) uint64 {
	x = (x | x>>3) & 0x0303030303030303
	x = (x | x>>6) & 0x000f000f000f000f
	return x * (1<<48 | 1<<36 | 1<<24 | 1<<12) >> 48
}

// FoldToBits is Fold with an array of bits as its result: a bit is set if one of the r cells that
// Fold would add is not zero. For bits it is Fold; for counters it avoids the larger array of their
// sums. It takes the time to read the array, and if groups aren't multiples of 64 cells a few
// nanoseconds more for each cell that is not zero. It returns the same errors as Fold.
func (a Array) FoldToBits(r, group uint64) (Array, error) {
	groups, err := a.groups(group)
	if err != nil {
		return Array{}, err
	}
	if err := CheckFold(groups, group, r); err != nil {
		return Array{}, err
	}
	if group%64 == 0 && a.width() == 1 {
		return a.Fold(r, group)
	}
	out, err := New(a.Len/r, 1)
	if err != nil {
		return Array{}, err
	}
	if group%64 == 0 {
		newLanes(a.width()).foldToWords(out.Words, a.Words, int(r), int(group/64))
	} else {
		a.spill(out, r, group)
	}
	return out, nil
}

// spill sets the bit of out for each cell of a that is not zero.
func (a Array) spill(out Array, r, group uint64) {
	l, width := newLanes(a.width()), uint64(a.width())
	for i, w := range a.Words {
		for h := l.nonzero(w); h != 0; h &= h - 1 {
			cell := (uint64(i)*64 + uint64(bits.TrailingZeros64(h))) / width
			if group > 1 {
				cell = cell/group/r*group + cell%group
			} else {
				cell /= r
			}
			out.Words[cell>>6] |= 1 << (cell & 63)
		}
	}
}

// foldToWords folds groups of words words of bits, which are width times as many words of src. The OR
// of two counters is zero only if both are, so it joins r counters before it packs them.
func (l lanes) foldToWords(dst, src []uint64, r, words int) {
	var joined [64]uint64
	width := int(l.shift) + 1
	acc, group := joined[:width], words*width
	for ; len(dst) > 0; dst, src = dst[words:], src[r*group:] {
		for i := range words {
			join(acc, src[i*width:], r, group)
			dst[i] = l.pack(acc)
		}
	}
}

// pack returns the word in which bit i is set if cell i of the 64 cells in run is not zero.
func (l lanes) pack(run []uint64) uint64 {
	if len(run) == 4 {
		return gather4(l.nonzero(run[0])>>3) | gather4(l.nonzero(run[1])>>3)<<16 |
			gather4(l.nonzero(run[2])>>3)<<32 | gather4(l.nonzero(run[3])>>3)<<48
	}
	var w uint64
	step := 64 / uint(len(run))
	for i := len(run) - 1; i >= 0; i-- {
		w = w<<step | l.gather(l.nonzero(run[i])>>(l.shift&63))
	}
	return w
}

// join sets acc to the OR of r runs of len(acc) words, which begin stride words apart in src.
func join(acc, src []uint64, r, stride int) {
	if len(acc) == 4 { // counters of 4 bits, the most common ones: in registers
		a, b, c, d := src[0], src[1], src[2], src[3]
		for range r - 1 {
			src = src[stride:]
			next := src[:4:4]
			a, b, c, d = a|next[0], b|next[1], c|next[2], d|next[3]
		}
		acc[0], acc[1], acc[2], acc[3] = a, b, c, d
		return
	}
	copy(acc, src)
	for range r - 1 {
		src = src[stride:]
		for t, w := range src[:len(acc)] {
			acc[t] |= w
		}
	}
}

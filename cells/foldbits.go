package cells

import "math/bits"

// FoldToBits is Fold with an array of bits as its result: a bit is set where one of
// the r cells that Fold would add isn't zero. For an array of bits it is Fold; for
// counters it saves the larger array of their sums. It takes the time to read the
// array where groups are multiples of 64 cells, and otherwise a few nanoseconds more
// for each cell that isn't zero. Errors are those of Fold.
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

// spill sets the bit of out for each cell of a that isn't zero.
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

// foldToWords folds groups of so many words of bits, which are width times as many
// words of src. The OR of two counters is zero only if both are, so cells are packed
// when r of them have been joined.
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

// pack returns, from the lowest bit up, a bit for each cell of a run of words that
// isn't zero: 64 cells together.
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

// join sets acc to the OR of the r runs of as many words that begin every so many
// words of src.
func join(acc, src []uint64, r, every int) {
	if len(acc) == 4 { // counters of 4 bits, the usual ones: in registers
		a, b, c, d := src[0], src[1], src[2], src[3]
		for range r - 1 {
			src = src[every:]
			next := src[:4:4]
			a, b, c, d = a|next[0], b|next[1], c|next[2], d|next[3]
		}
		acc[0], acc[1], acc[2], acc[3] = a, b, c, d
		return
	}
	copy(acc, src)
	for range r - 1 {
		src = src[every:]
		for t, w := range src[:len(acc)] {
			acc[t] |= w
		}
	}
}

package cells

// NonzeroWord returns word j of the array of bits in which cell i is set if cell i of
// a isn't zero: the plain filter of a counting one. There are as many such words as
// [WordsFor] gives for a.Len bits.
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

// gather moves the lowest bit of each lane of x to bits 0, 1, 2, …; the others are
// zero. Neighbours are put together in pairs, these in fours, and so on; a product
// does all steps at once where its terms don't meet (Warren, Hacker's Delight, section
// 7-4).
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

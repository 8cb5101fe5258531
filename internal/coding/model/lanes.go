package model

import "github.com/umbel-filters/umbel/cells"

// lanes converts between flags of the counters of a word and packed bits. A flag is the lowest
// bit of a counter's lane.
type lanes struct {
	width   uint
	low     uint64 // the lowest bits of all lanes
	high    uint64 // the highest
	product uint64 // moves the flags to the highest bits, if width is 8 or more
	diag    uint64 // bit i of lane i, if width is 8 or more
}

func newLanes(width uint) lanes {
	l := lanes{width: width, low: ^uint64(0) / (^uint64(0) >> (64 - width))}
	l.high = l.low << (width - 1)
	if width >= 8 {
		for i := range l.count() {
			l.product |= 1 << (64 - l.count() + i - i*width)
			l.diag |= 1 << (i*width + i)
		}
	}
	return l
}

func (l *lanes) count() uint { return 64 / l.width }

// flags returns the flags of the lanes that aren't zero. It treats the highest bit of a lane
// separately, so that nothing carries into the next lane (Warren, Hacker's Delight, section
// 2-18).
func (l *lanes) flags(w uint64) uint64 {
	return (w&^l.high + ^l.high | w) & l.high >> (l.width - 1)
}

// gather moves the flags to bits 0, 1, 2, …: those of narrow lanes in pairs, fours and so on,
// the others by a multiplication whose terms don't overlap (section 7-4).
func (l *lanes) gather(x uint64) uint64 {
	switch l.width {
	case 2:
		x = (x | x>>1) & 0x3333333333333333
		x = (x | x>>2) & 0x0f0f0f0f0f0f0f0f
		x = (x | x>>4) & 0x00ff00ff00ff00ff
		x = (x | x>>8) & 0x0000ffff0000ffff
		return (x | x>>16) & 0xffffffff
	case 4:
		return gather4(x)
	}
	return x * l.product >> (64 - l.count())
}

// gather4 is gather for lanes of 4 bits, small enough to be inlined.
func gather4(x uint64) uint64 {
	x = (x | x>>3) & 0x0303030303030303
	x = (x | x>>6) & 0x000f000f000f000f
	return x * (1<<48 | 1<<36 | 1<<24 | 1<<12) >> 48
}

// spread is the inverse of gather. Lanes of 4 bits have spread4 instead.
func (l *lanes) spread(x uint64) uint64 {
	if l.width == 2 {
		x = (x | x<<16) & 0x0000ffff0000ffff
		x = (x | x<<8) & 0x00ff00ff00ff00ff
		x = (x | x<<4) & 0x0f0f0f0f0f0f0f0f
		x = (x | x<<2) & 0x3333333333333333
		return (x | x<<1) & 0x5555555555555555
	}
	return l.flags(x * l.low & l.diag)
}

func spread4(x uint64) uint64 {
	x = (x | x<<24) & 0x000000ff000000ff
	x = (x | x<<12) & 0x000f000f000f000f
	x = (x | x<<6) & 0x0303030303030303
	return (x | x<<3) & 0x1111111111111111
}

// peel sets dst to a mask of the counters that aren't zero, and decrements those. It reports
// whether there are any.
func peel(dst []uint64, a cells.Array) bool {
	l := newLanes(a.Width)
	words, n := a.Words, int(l.count())
	var some uint64
	for j := range dst {
		here := words[:min(int(l.width), len(words))]
		words = words[len(here):]
		var above uint64
		for i, w := range here {
			if w == 0 {
				continue
			}
			f := l.flags(w)
			here[i] = w - f
			if l.width == 4 {
				f = gather4(f)
			} else {
				f = l.gather(f)
			}
			above |= f << (i * n)
		}
		dst[j] = above
		some |= above
	}
	return some != 0
}

// raise increments each counter under the mask set; none of them is at its maximum.
func raise(a cells.Array, set []uint64) {
	l := newLanes(a.Width)
	words, n := a.Words, l.count()
	for _, s := range set {
		here := words[:min(int(l.width), len(words))]
		words = words[len(here):]
		for i := 0; s != 0; i++ {
			f := s & (1<<n - 1)
			if l.width == 4 {
				f = spread4(f)
			} else {
				f = l.spread(f)
			}
			here[i] += f
			s >>= n
		}
	}
}

// differ sets dst to a mask of the counters in which two arrays differ.
func differ(dst []uint64, a, b cells.Array) {
	l := newLanes(a.Width)
	for j := range dst {
		at := j * int(l.width)
		end := min(at+int(l.width), len(a.Words))
		aw, bw := a.Words[at:end], b.Words[at:end]
		dst[j] = 0
		for i, w := range aw {
			if w != bw[i] {
				dst[j] |= l.gather(l.flags(w^bw[i])) << (i * int(l.count()))
			}
		}
	}
}

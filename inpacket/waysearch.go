package inpacket

import (
	"math/bits"
	"slices"
)

const (
	// freeDims is how many of the unknowns that a plane has more than equations are
	// tried in both ways.
	freeDims = 6
	// kept is how many ways to solve some planes are kept for the next one.
	kept = 16
	// closed is how many ways to solve all planes but the last are tried to finish.
	closed = 16
)

// way is a way to solve the planes of a Linear filter but the last.
type way struct {
	sums      [MaxPlanes - 1]uint16 // for each plane, which vectors are added to the first
	count     int                   // of the survivors
	survivors []uint64
}

// waySearch finds ways.
type waySearch struct {
	now, next []way
	planes    [MaxPlanes - 1][]vector
	sum       []uint64
	memory    []uint64
}

// find returns ways to solve planes of such lengths for the tree, few survivors first
// and no more than room.
func (f *waySearch) find(s *linearSearch, lengths []int, room int) []way {
	n := len(s.others())
	size := words(n)
	all := make([]uint64, size)
	for i := range n {
		all[i>>6] |= 1 << (i & 63)
	}
	f.now = append(f.now[:0], way{count: n, survivors: all})
	f.sum = zeros(f.sum, size)
	for p, length := range lengths {
		vectors := s.planes[p].solutions(length, freeDims)
		f.planes[p] = vectors
		most := kept
		if p == len(lengths)-1 {
			most = closed
		}
		f.next = f.next[:0]
		for _, w := range f.now {
			copy(f.sum, vectors[0].odd)
			sum := uint16(0)
			for i := range 1 << (len(vectors) - 1) {
				if i > 0 {
					// In Gray's order, each differs from the one before by one vector.
					b := bits.TrailingZeros(uint(i))
					sum ^= 1 << b
					for j, v := range vectors[1+b].odd {
						f.sum[j] ^= v
					}
				}
				count := 0
				for j, v := range f.sum {
					count += bits.OnesCount64(v & w.survivors[j])
				}
				if p == len(lengths)-1 && count > room {
					continue
				}
				child := w
				child.sums[p], child.count = sum, count
				f.next = append(f.next, child)
			}
		}
		s.q.work += 2 * size * len(f.now) << (len(vectors) - 1)
		slices.SortStableFunc(f.next, func(a, b way) int { return a.count - b.count })
		f.next = f.next[:min(len(f.next), most)]
		for i := range f.next {
			w := &f.next[i]
			left := slices.Clone(w.survivors)
			odd := vectors[0].odd
			for j := range left {
				v := odd[j]
				for b := range vectors[1:] {
					if w.sums[p]>>b&1 != 0 {
						v ^= vectors[1+b].odd[j]
					}
				}
				left[j] &= v
			}
			w.survivors = left
		}
		f.now, f.next = f.next, f.now
	}
	return f.now
}

// solutions returns the bits of the planes that a way solves.
func (f *waySearch) solutions(s *linearSearch, w way, planes int) [][]uint64 {
	var all [][]uint64
	for p := range planes {
		x := slices.Clone(f.planes[p][0].bits)
		for b, v := range f.planes[p][1:] {
			if w.sums[p]>>b&1 != 0 {
				for i := range x {
					x[i] ^= v.bits[i]
				}
			}
		}
		all = append(all, x)
	}
	return all
}

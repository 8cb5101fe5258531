package advances

import (
	"crypto/md5"
	"encoding/binary"
	"slices"
)

// java is the counting filter of the program in section 5.1, with its mistakes but
// without the doubling of k. It shows what the program prints.
type java struct {
	k      int
	next   []int // the position that follows each position
	counts []int
}

func newJava(capacity, k int) *java {
	j := &java{k: k, next: make([]int, capacity), counts: make([]int, capacity)}
	for i := range j.next {
		j.next[i] = j.hash(int32(i))
	}
	return j
}

// hash is getHash: the absolute value of the low 32 bits of MD5, modulo capacity - 1.
// (In Java, the absolute value of the smallest integer is negative and the program
// crashes; here it is positive.)
func (j *java) hash(i int32) int {
	sum := md5.Sum(binary.BigEndian.AppendUint32(nil, uint32(i)))
	v := int64(int32(binary.BigEndian.Uint32(sum[12:])))
	if v < 0 {
		v = -v
	}
	return int(v) % (len(j.counts) - 1)
}

// positions is getSetArray: the hash of the element, the hash of that hash, and so on.
func (j *java) positions(element int32) []int {
	at := make([]int, j.k)
	at[0] = j.hash(element)
	for i := 1; i < j.k; i++ {
		at[i] = j.next[at[i-1]]
	}
	return at
}

func (j *java) add(element int32) {
	for _, i := range j.positions(element) {
		j.counts[i]++
	}
}

func (j *java) contains(element int32) bool {
	for at, i := j.hash(element), 0; i < j.k; at, i = j.next[at], i+1 {
		if j.counts[at] == 0 {
			return false
		}
	}
	return true
}

// remove is delete: it clears positions with a count of 1 and stops at the first
// position with another count, where the program prints that the element can't be
// deleted.
func (j *java) remove(element int32) {
	for _, i := range j.positions(element) {
		if j.counts[i] != 1 {
			return
		}
		j.counts[i] = 0
	}
}

// ambiguous returns how many elements have the same cells as another one.
func ambiguous(cells [][]int) (n int) {
	sets := make([][]int, len(cells))
	for i, at := range cells {
		sets[i] = slices.Compact(slices.Sorted(slices.Values(at)))
	}
	for i, a := range sets {
		if slices.ContainsFunc(append(slices.Clone(sets[:i]), sets[i+1:]...), func(b []int) bool { return slices.Equal(a, b) }) {
			n++
		}
	}
	return n
}

// figure12 contains the counters of Figure 12. The figure shows 19 of 20 cells; the last
// one is never used.
var figure12 = []int{1, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 1, 2, 3, 0, 2, 2, 1, 0, 0}

// fives returns the multisets of five elements from 0 to 19 that produce the given
// counters.
func fives(counters []int) (found [][]int) {
	j := newJava(len(counters), 3)
	var from func(least int, chosen []int)
	from = func(least int, chosen []int) {
		if len(chosen) == 5 {
			clear(j.counts)
			for _, e := range chosen {
				j.add(int32(e))
			}
			if slices.Equal(j.counts, counters) {
				found = append(found, slices.Clone(chosen))
			}
			return
		}
		for e := least; e < 20; e++ {
			from(e, append(chosen, e))
		}
	}
	from(0, nil)
	return found
}

package advances

import (
	"crypto/md5"
	"encoding/binary"
	"slices"
)

// java is the counting filter of the report's program, section 5.1, mistakes and all,
// without the doubling of k. It is here to show what it prints.
type java struct {
	k      int
	next   []int // the position that the program takes after each
	counts []int
}

func newJava(capacity, k int) *java {
	j := &java{k: k, next: make([]int, capacity), counts: make([]int, capacity)}
	for i := range j.next {
		j.next[i] = j.hash(int32(i))
	}
	return j
}

// hash is getHash: the low 32 bits of MD5, without their sign, modulo one less than
// the capacity. (Of the least integer Java's absolute value is negative, and the
// program ends; not so here.)
func (j *java) hash(i int32) int {
	sum := md5.Sum(binary.BigEndian.AppendUint32(nil, uint32(i)))
	v := int64(int32(binary.BigEndian.Uint32(sum[12:])))
	if v < 0 {
		v = -v
	}
	return int(v) % (len(j.counts) - 1)
}

// positions is getSetArray: the hash of the element, the hash of that, and so on.
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

// remove is delete: it takes positions with a count of 1 away until it comes to one
// with another count, where it says that the element can't be deleted.
func (j *java) remove(element int32) {
	for _, i := range j.positions(element) {
		if j.counts[i] != 1 {
			return
		}
		j.counts[i] = 0
	}
}

// alike returns how many elements have the same cells as another one.
func alike(cells [][]int) (n int) {
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

// figure12 are the counters that Figure 12 shows: of 20 cells it shows 19, and the
// last one is never used.
var figure12 = []int{1, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 1, 2, 3, 0, 2, 2, 1, 0, 0}

// fives returns the sets of five elements of 0 to 19, with repetition, that give
// these counters.
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

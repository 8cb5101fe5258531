package merkle

import (
	"iter"
	"math/bits"
	"slices"
)

// Tree keeps the hashes of all nodes, 64 bytes per leaf. It is not safe for concurrent use,
// except that methods which don't change it may run concurrently with each other.
type Tree struct {
	levels [][]Hash // levels[k][i] is node i of level k; the last level has one node
}

// NewTree returns the tree of n leaves. Workers are those of [Root].
func NewTree(h *Hasher, n uint64, workers int, leaf Leaves) *Tree {
	t := Begin(n)
	parallel(h, t.Groups(), workers, func(h *Hasher, g uint64) { t.HashGroup(h, g, leaf) })
	t.Finish(h)
	return t
}

// Begin returns a tree of n leaves without hashes, in one piece of memory. Call HashGroup for each group,
// and then Finish.
func Begin(n uint64) *Tree {
	var sizes []uint64
	total := uint64(0)
	for ; n > 0; n = n/2 + n%2 {
		sizes = append(sizes, n)
		total += n
		if n == 1 {
			break
		}
	}
	t := &Tree{make([][]Hash, len(sizes))}
	nodes := make([]Hash, total)
	for k, size := range sizes {
		t.levels[k], nodes = nodes[:size:size], nodes[size:]
	}
	return t
}

// Clone returns a copy of t that shares no memory with it.
func (t *Tree) Clone() *Tree {
	c := Begin(t.Len())
	for k, level := range t.levels {
		copy(c.levels[k], level)
	}
	return c
}

// Len returns the number of leaves.
func (t *Tree) Len() uint64 {
	if len(t.levels) == 0 {
		return 0
	}
	return uint64(len(t.levels[0]))
}

// Root returns the root.
func (t *Tree) Root() Hash {
	if len(t.levels) == 0 {
		return Empty()
	}
	return t.levels[len(t.levels)-1][0]
}

// Bytes returns the memory of the hashes.
func (t *Tree) Bytes() uint64 {
	n := uint64(0)
	for _, level := range t.levels {
		n += uint64(len(level)) * uint64(len(Hash{}))
	}
	return n
}

// Update hashes the leaves that changed, and the nodes above them. For each 64 leaves from
// number 64·g on, it calls changed with g: leaf 64·g + b changed if bit b of the result is set.
// Bits beyond the last leaf are ignored. changed is called concurrently if there are several
// workers, which are those of [Root].
func (t *Tree) Update(h *Hasher, workers int, changed func(g uint64) uint64, leaf Leaves) {
	dirty := make([]bool, numGroups(t.Len()))
	parallel(h, uint64(len(dirty)), workers, func(h *Hasher, g uint64) {
		marks := changed(g)
		if left := t.Len() - g*groupLeaves; left < groupLeaves {
			marks &= 1<<left - 1
		}
		dirty[g] = marks != 0
		t.rehash(h, g, marks, leaf)
	})
	var groups []uint64
	for g, is := range dirty {
		if is {
			groups = append(groups, uint64(g))
		}
	}
	t.climb(h, groups)
}

// UpdateLeaves is Update for a list of the changed leaves. It takes time in proportion to the
// list if the numbers ascend, and more if they don't. It panics if a number isn't below Len.
func (t *Tree) UpdateLeaves(h *Hasher, changed iter.Seq[uint64], leaf Leaves) {
	var groups []uint64
	marks := uint64(0)
	for i := range changed {
		g := i / groupLeaves
		if last := len(groups) - 1; last < 0 || groups[last] != g {
			if marks != 0 {
				t.rehash(h, groups[last], marks, leaf)
			}
			groups, marks = append(groups, g), 0
		}
		marks |= 1 << (i % groupLeaves)
	}
	if marks != 0 {
		t.rehash(h, groups[len(groups)-1], marks, leaf)
	}
	t.climb(h, groups)
}

// Groups returns the number of groups: a group is 64 leaves, the last one may be shorter.
func (t *Tree) Groups() uint64 { return numGroups(t.Len()) }

// HashGroup hashes the leaves of group g, and the nodes above them in the group. It may be called
// concurrently for different groups.
func (t *Tree) HashGroup(h *Hasher, g uint64, leaf Leaves) {
	marks := ^uint64(0)
	if left := t.Len() - g*groupLeaves; left < groupLeaves {
		marks = 1<<left - 1
	}
	t.rehash(h, g, marks, leaf)
}

// Finish hashes the nodes above all groups.
func (t *Tree) Finish(h *Hasher) {
	groups := make([]uint64, t.Groups())
	for g := range groups {
		groups[g] = uint64(g)
	}
	t.climb(h, groups)
}

// rehash hashes the marked leaves of group g, and the nodes above them in the group.
func (t *Tree) rehash(h *Hasher, g, marks uint64, leaf Leaves) {
	for m := marks; m != 0; m &= m - 1 {
		i := g*groupLeaves + uint64(bits.TrailingZeros64(m))
		t.levels[0][i] = leaf(h, i)
	}
	for level := 1; level <= groupLevel && level < len(t.levels); level++ {
		above := uint64(0)
		for m := marks; m != 0; m &= m - 1 {
			above |= 1 << (bits.TrailingZeros64(m) / 2)
		}
		for m := above; m != 0; m &= m - 1 {
			t.combine(h, level, g<<(groupLevel-level)+uint64(bits.TrailingZeros64(m)))
		}
		marks = above
	}
}

// climb hashes the nodes above groups, whose numbers ascend. It overwrites the list.
func (t *Tree) climb(h *Hasher, nodes []uint64) {
	for level := groupLevel + 1; level < len(t.levels); level++ {
		for k := range nodes {
			nodes[k] /= 2
		}
		nodes = slices.Compact(nodes)
		for _, i := range nodes {
			t.combine(h, level, i)
		}
	}
}

// combine hashes node i of a level above the leaves.
func (t *Tree) combine(h *Hasher, level int, i uint64) {
	below := t.levels[level-1][2*i:]
	if len(below) == 1 {
		t.levels[level][i] = below[0]
		return
	}
	t.levels[level][i] = h.parent(level-1, &below[0], &below[1])
}

// Package merkle computes Merkle tree hashes with SHA-256 as RFC 9162, section 2.1.1,
// defines them: the hash of a leaf is SHA-256(0x00 || leaf), that of a node is
// SHA-256(0x01 || left || right), and the left subtree of n leaves has as many as the largest
// power of two smaller than n. The same hashes result from combining neighbors level by level,
// where the last node of a level moves up unchanged if it has no neighbor. Therefore node i of
// level k is the hash of leaves i·2^k to (i+1)·2^k - 1, without those that don't exist.
//
// [Root] computes a root, [Frontier] does it for leaves that arrive one by one, [Tree] keeps
// all nodes so that a change costs in proportion to its size, and [Verify] checks one node
// by its path.
package merkle

import (
	"crypto/sha256"
	"hash"
)

// Hash is the hash of a leaf or a node.
type Hash [sha256.Size]byte

// The first bytes of what is hashed. They differ, so that no leaf is taken for a node.
const (
	leafPrefix = 0
	nodePrefix = 1
)

// Empty returns the root of a tree without leaves, the SHA-256 of nothing.
func Empty() Hash { return sha256.Sum256(nil) }

// Leaves returns the hash of leaf i, for a tree whose leaves are known by number. It is called
// concurrently if there are several workers, each with a Hasher of its own.
type Leaves func(h *Hasher, i uint64) Hash

// Hasher has the memory for computing hashes without allocation. It is not safe for concurrent
// use.
type Hasher struct {
	// Buf is memory for the caller of Leaf.
	Buf     []byte
	sha     hash.Hash
	prefix  [1]byte
	node    [1 + 2*sha256.Size]byte
	sum     Hash
	doubles []double // by level; none before the first
}

// maxLevels is more than the levels of a tree with 2^57 leaves.
const maxLevels = 58

// double is the last node of a level that had two equal children. Large parts of a sparse
// array are zero, so the same node is needed again and again.
type double struct {
	known         bool
	child, parent Hash
}

// NewHasher returns a Hasher.
func NewHasher() *Hasher { return &Hasher{sha: sha256.New()} }

// Leaf returns the hash of a leaf.
func (h *Hasher) Leaf(data []byte) Hash {
	h.sha.Reset()
	h.prefix[0] = leafPrefix
	h.sha.Write(h.prefix[:])
	h.sha.Write(data)
	h.sha.Sum(h.sum[:0])
	return h.sum
}

// Node returns the hash of a node.
func (h *Hasher) Node(left, right *Hash) Hash {
	h.node[0] = nodePrefix
	copy(h.node[1:], left[:])
	copy(h.node[1+len(left):], right[:])
	h.sha.Reset()
	h.sha.Write(h.node[:])
	h.sha.Sum(h.sum[:0])
	return h.sum
}

// parent is Node for two nodes of a level, with a memory for pairs of equal nodes.
func (h *Hasher) parent(level int, left, right *Hash) Hash {
	if *left != *right {
		return h.Node(left, right)
	}
	if h.doubles == nil {
		h.doubles = make([]double, maxLevels)
	}
	d := &h.doubles[level]
	if !d.known || d.child != *left {
		*d = double{true, *left, h.Node(left, right)}
	}
	return d.parent
}

// Frontier computes the root of leaves that arrive one by one. Its zero value has no leaves.
type Frontier struct {
	n     uint64
	roots [maxLevels]Hash // roots[k] is that of 2^k leaves, if bit k of n is set
}

// Add adds the hash of the next leaf, or of the next node of a level if all nodes of that level
// are added.
func (f *Frontier) Add(h *Hasher, leaf Hash) {
	level := 0
	for ; f.n>>level&1 == 1; level++ {
		leaf = h.parent(level, &f.roots[level], &leaf)
	}
	f.roots[level] = leaf
	f.n++
}

// Root returns the root of the leaves that were added.
func (f *Frontier) Root(h *Hasher) Hash {
	if f.n == 0 {
		return Empty()
	}
	var root Hash
	first := true
	for level := 0; f.n>>level != 0; level++ {
		switch {
		case f.n>>level&1 == 0:
		case first:
			root, first = f.roots[level], false
		default:
			root = h.parent(level, &f.roots[level], &root)
		}
	}
	return root
}

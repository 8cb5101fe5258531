// Package roots computes the roots of arrays and the IDs of states: spec/container.md, "ID".
package roots

import (
	"crypto/sha256"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/merkle"
	"github.com/umbel-filters/umbel/wire/internal/block"
	"github.com/umbel-filters/umbel/wire/internal/format"
)

// A leaf is 1 KiB of an array. The last leaf of an array may have fewer words.
const (
	LeafBytes = 1024
	leafWords = LeafBytes / 8
)

// NumLeaves returns the number of leaves of an array.
func NumLeaves(words int) uint64 { return uint64(words+leafWords-1) / leafWords }

// Leaves returns the hashes of the leaves of words.
func Leaves(words []uint64) merkle.Leaves {
	return func(h *merkle.Hasher, i uint64) merkle.Hash { return hashLeaf(h, leafAt(words, i)) }
}

// leafAt returns the words of leaf i.
func leafAt(words []uint64, i uint64) []uint64 {
	rest := words[i*leafWords:]
	return rest[:min(leafWords, len(rest))]
}

// Most leaves of a sparse array are zero. Their hash is not computed again.
var (
	zeroWords [leafWords]uint64
	zeroLeaf  = merkle.NewHasher().Leaf(make([]byte, LeafBytes))
)

func hashLeaf(h *merkle.Hasher, words []uint64) merkle.Hash {
	if len(words) == leafWords && [leafWords]uint64(words) == zeroWords {
		return zeroLeaf
	}
	if b, ok := block.View(words); ok {
		return h.Leaf(b)
	}
	h.Buf = block.AppendWords(h.Buf[:0], words)
	return h.Leaf(h.Buf)
}

// Changed returns a function for merkle.Tree.Update that compares two arrays of one length.
func Changed(old, new []uint64) func(g uint64) uint64 {
	return func(g uint64) uint64 {
		marks := uint64(0)
		for b := range min(64, NumLeaves(len(new))-64*g) {
			x, y := leafAt(old, 64*g+b), leafAt(new, 64*g+b)
			if !equal(x, y) {
				marks |= 1 << b
			}
		}
		return marks
	}
}

func equal(x, y []uint64) bool {
	if len(x) == leafWords {
		return [leafWords]uint64(x) == [leafWords]uint64(y)
	}
	for i, w := range x {
		if y[i] != w {
			return false
		}
	}
	return true
}

// Identify returns the ID of a state that passes its Check. With at most one worker the
// caller's goroutine does all work.
func Identify(s umbel.State, workers int) [sha256.Size]byte {
	h := merkle.NewHasher()
	return Sum(s, func(a cells.Array) merkle.Hash {
		return merkle.Root(h, NumLeaves(len(a.Words)), workers, Leaves(a.Words))
	})
}

// Sum returns the ID of a state whose arrays have the given roots. It calls root for each array
// in the order of the container.
func Sum(s umbel.State, root func(a cells.Array) merkle.Hash) [sha256.Size]byte {
	sha := sha256.New()
	w := format.Writer{W: sha, Arrays: func(w *format.Writer, a cells.Array) {
		r := root(a)
		w.Buf = append(w.Buf, r[:]...)
	}}
	w.Body(s)
	return [sha256.Size]byte(sha.Sum(nil))
}

// Blocks computes the root of an array whose blocks arrive one by one.
type Blocks struct {
	leaves merkle.Frontier
	words  int // of the leaves
}

// Words returns the number of words of the blocks that were added.
func (b *Blocks) Words() int { return b.words }

// Add adds the next block: whole leaves, unless it is the last one.
func (b *Blocks) Add(h *merkle.Hasher, words []uint64) {
	for i := range NumLeaves(len(words)) {
		b.leaves.Add(h, hashLeaf(h, leafAt(words, i)))
	}
	b.words += len(words)
}

// AddZeros adds n words that are zero.
func (b *Blocks) AddZeros(h *merkle.Hasher, n int) {
	for n > 0 {
		leaf := zeroWords[:min(n, leafWords)]
		b.Add(h, leaf)
		n -= len(leaf)
	}
}

// Root returns the root of the blocks that were added.
func (b *Blocks) Root(h *merkle.Hasher) merkle.Hash { return b.leaves.Root(h) }

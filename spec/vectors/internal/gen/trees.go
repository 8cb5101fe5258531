package main

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/umbel-filters/umbel/internal/merkle"
)

// The numbers of bytes of a leaf and of words of a block, in spec/container.md.
const (
	leafBytes  = 1024
	leafWords  = leafBytes / 8
	blockWords = 64 * leafWords
	blockLevel = 6 // of the node that is a block's root
)

// treeFactor is an odd number without a pattern, 2^64 divided by the golden ratio.
const treeFactor = 0x9e3779b97f4a7c15

// treeWords returns the words of an array in the vectors of trees.
func treeWords(n int, factor uint64) []uint64 {
	words := make([]uint64, n)
	for i := range words {
		words[i] = uint64(i+1) * factor
	}
	return words
}

// treeOf returns the hash tree of an array.
func treeOf(words []uint64) *merkle.Tree {
	var b []byte
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	n := (len(b) + leafBytes - 1) / leafBytes
	return merkle.NewTree(merkle.NewHasher(), uint64(n), 1, func(h *merkle.Hasher, i uint64) merkle.Hash {
		return h.Leaf(b[i*leafBytes : min(len(b), int(i+1)*leafBytes)])
	})
}

// trees returns roots of arrays, and the paths of their blocks.
func trees() []file {
	var roots, paths strings.Builder
	for _, n := range []int{0, 1, leafWords - 1, leafWords, leafWords + 1, 2 * leafWords, 2*leafWords + 1, 3 * leafWords,
		62*leafWords + 1, 63 * leafWords, blockWords - 1, blockWords, blockWords + 1, 65 * leafWords, 3*blockWords + 5*leafWords + 7} {
		for _, factor := range []uint64{treeFactor, 0} {
			fmt.Fprintf(&roots, "%d %016x %x\n", n, factor, treeOf(treeWords(n, factor)).Root())
		}
	}
	for _, blocks := range []int{1, 2, 3, 6, 7} {
		t := treeOf(treeWords(blocks*blockWords-leafWords-1, treeFactor))
		for i := range uint64(blocks) {
			fmt.Fprintf(&paths, "%x %d %d %x", t.Root(), blocks, i, t.Node(blockLevel, i))
			for _, h := range t.Path(blockLevel, i) {
				fmt.Fprintf(&paths, " %x", h)
			}
			paths.WriteByte('\n')
		}
	}
	return []file{
		{Path: "trees/roots.txt", Header: []field{
			{"comment", "roots of arrays of 0, 1, 2, 3, 63, 64, 65 and 198 leaves; word i, from 0, is (i+1)·factor modulo 2^64"},
			{"row", "words, factor, root"}}, Body: roots.String()},
		{Path: "trees/paths.txt", Header: []field{
			{"comment", "blocks of arrays that lack 129 words at their end, with their paths, the lowest neighbor first"},
			{"row", "root, blocks, block, root of the block, path"}}, Body: paths.String()},
	}
}

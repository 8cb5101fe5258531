package main

import (
	"math/bits"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
)

// lineWords is the number of words in a cache line.
const lineWords = 8

// The floors do what no filter of one cache line a key can leave out: they find
// the line of a digest and fetch it. Their memory is like that of umbel's filters,
// each line written to once.

// touchFloor loads one word of a line, one call for each key's worth of work.
func touchFloor(z size, in input) (*subject, error) {
	words, lines, err := floorMemory(z)
	if err != nil {
		return nil, err
	}
	touch := func(k *keys) int {
		return countDigests(k, func(d umbel.Digest) bool {
			line, _ := bits.Mul64(d.H1, lines)
			return words[line*lineWords] != 0
		})
	}
	return &subject{
		bits: uint64(len(words)) * 64,
		add:  func(k *keys) { touch(k) },
		has:  touch,
	}, nil
}

// prefetchFloor asks for the line of each key of a batch and waits for none.
func prefetchFloor(z size, in input) (*subject, error) {
	words, lines, err := floorMemory(z)
	if err != nil {
		return nil, err
	}
	ask := func(k *keys) {
		eachBatch(k.n, func(i, j int) { prefetchLines(&words[0], lines, &k.digests[i], j-i) })
	}
	return &subject{bits: uint64(len(words)) * 64, addBatch: ask, hasBatch: ask}, nil
}

func floorMemory(z size) (words []uint64, lines uint64, err error) {
	lines = max(1, z.bits()/(lineWords*64))
	a, err := cells.New(lines*lineWords*64, 1)
	if err != nil {
		return nil, 0, err
	}
	for i := 0; i < len(a.Words); i += lineWords {
		a.Words[i] = 1
	}
	return a.Words, lines, nil
}

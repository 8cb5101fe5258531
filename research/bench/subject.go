package main

import (
	"io"
	"math"
	"math/bits"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
)

// contestant is a filter of a library.
type contestant struct {
	name string
	// takes contains the inputs that it supports.
	takes []input
	// make returns nil if the library has no filter of that size.
	make func(size, input) (*subject, error)
	role role
}

type role uint8

const (
	filter role = iota
	static      // add makes the filter from all keys at once
	floor       // not a filter, only the necessary memory accesses
)

// size is the requested size of a filter: the number of keys, and either a rate or the
// bits per key. The other is zero.
type size struct {
	keys       uint64
	rate       float64
	bitsPerKey float64
}

func (z size) bits() uint64 { return uint64(float64(z.keys) * z.bitsPerKey) }

// rateOrEqual returns the rate for which the textbook formula gives this size, for
// libraries that take only a rate.
func (z size) rateOrEqual() float64 {
	if z.rate != 0 {
		return z.rate
	}
	return math.Exp(-z.bitsPerKey * math.Ln2 * math.Ln2)
}

// bestK returns the best number of cells per key for m bits and n keys.
func bestK(m, n uint64) int {
	return max(1, int(math.Round(float64(m)/float64(n)*math.Ln2)))
}

func (z size) goal(h umbel.Hasher) umbel.Goal {
	if z.rate != 0 {
		return umbel.Goal{Keys: z.keys, FPRate: z.rate, Hasher: h}
	}
	return umbel.Goal{Keys: z.keys, Bytes: z.bits() / 8, Hasher: h}
}

// subject is a filter under measurement. Its functions are loops over keys, written for the
// concrete type of the filter as a caller would write them. A function is nil if the
// library does not support the operation.
type subject struct {
	bits  uint64
	grown func() uint64 // current bits of a filter that grows
	clear func()

	add func(*keys)
	has func(*keys) int // returns the number of positives

	remove func(*keys) int // returns the number of present keys

	addBatch func(*keys)
	hasBatch func(*keys) // sets keys.answers

	// The same operations, safe for concurrent use of the same filter.
	addShared      func(*keys)
	addSharedBatch func(*keys)
	hasShared      func(*keys) int

	save func(io.Writer) error
	load func(io.Reader) error
}

// size returns the current number of bits of the filter.
func (s *subject) size() uint64 {
	if s.grown != nil {
		return s.grown()
	}
	return s.bits
}

// fill adds keys by the fastest method.
func (s *subject) fill(k *keys) {
	if s.addBatch != nil {
		s.addBatch(k)
		return
	}
	s.add(k)
}

// lineWords is the number of words in a cache line.
const lineWords = 8

// The floors do what every filter with one cache line per key must do: they find the line
// of a digest and load it. As in a filter, each line of their memory was written once.

// touchFloor loads one word of a line in one call per key.
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

// prefetchFloor prefetches the line of each key of a batch and waits for none.
func prefetchFloor(z size, in input) (*subject, error) {
	words, lines, err := floorMemory(z)
	if err != nil {
		return nil, err
	}
	prefetch := func(k *keys) {
		eachBatch(k.n, func(i, j int) { prefetchLines(&words[0], lines, &k.digests[i], j-i) })
	}
	return &subject{bits: uint64(len(words)) * 64, addBatch: prefetch, hasBatch: prefetch}, nil
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

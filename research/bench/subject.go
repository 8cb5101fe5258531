package main

import (
	"io"
	"math"

	"github.com/umbel-filters/umbel"
)

// contestant is one filter of one library.
type contestant struct {
	name string
	// takes are the inputs that it has a way of taking.
	takes []input
	// make returns nil where there can be no such filter of that size.
	make func(size, input) (*subject, error)
	role role
}

type role uint8

const (
	filter role = iota
	static      // add makes the filter of all keys at once
	floor       // no filter: only what one can't do without
)

// size is how large a filter is to be: for so many keys at a rate, or with so many
// bits for each of them; the other is zero.
type size struct {
	keys       uint64
	rate       float64
	bitsPerKey float64
}

func (z size) bits() uint64 { return uint64(float64(z.keys) * z.bitsPerKey) }

// rateOrEqual returns the rate at which the textbook sizes a filter so: for
// libraries that are told nothing else.
func (z size) rateOrEqual() float64 {
	if z.rate != 0 {
		return z.rate
	}
	return math.Exp(-z.bitsPerKey * math.Ln2 * math.Ln2)
}

// bestK returns the number of cells per key that is best for m bits and n keys.
func bestK(m, n uint64) int {
	return max(1, int(math.Round(float64(m)/float64(n)*math.Ln2)))
}

func (z size) goal(h umbel.Hasher) umbel.Goal {
	if z.rate != 0 {
		return umbel.Goal{Keys: z.keys, FPRate: z.rate, Hasher: h}
	}
	return umbel.Goal{Keys: z.keys, Bytes: z.bits() / 8, Hasher: h}
}

// subject is a filter as measurements see it. Its functions are loops over keys
// written for the filter's own type, as a caller would write them. Those
// the library has no way to do are nil.
type subject struct {
	bits  uint64
	grown func() uint64 // bits now, of a filter that takes more as it is filled
	clear func()

	add func(*keys)
	has func(*keys) int // counts yes

	remove func(*keys) int // counts those that were there

	addBatch func(*keys)
	hasBatch func(*keys) // to keys.answers

	// The same while others do so in the same filter.
	addShared      func(*keys)
	addSharedBatch func(*keys)
	hasShared      func(*keys) int

	save func(io.Writer) error
	load func(io.Reader) error
}

// size returns the bits that the filter takes now.
func (s *subject) size() uint64 {
	if s.grown != nil {
		return s.grown()
	}
	return s.bits
}

// fill adds keys by the quickest way there is.
func (s *subject) fill(k *keys) {
	if s.addBatch != nil {
		s.addBatch(k)
		return
	}
	s.add(k)
}

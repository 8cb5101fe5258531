package engine

import (
	"slices"

	"github.com/umbel-filters/umbel"
)

// Batch is a list of digests, and memory for their answers that is used again. It is used by one goroutine.
type Batch struct {
	Digests []umbel.Digest
	Answers []bool   // of Add, Has and Remove
	Counts  []uint64 // of Count
	N       int      // the first N digests have an answer, also after an error
}

// Hash appends the digests of items.
func (b *Batch) Hash(h umbel.Hasher, items [][]byte) {
	for _, item := range items {
		b.Digests = append(b.Digests, h.HashBytes(item))
	}
}

// Add is f.Add for the digests.
func (b *Batch) Add(f *Filter) (pos Position, err error) {
	b.Answers = resized(b.Answers, len(b.Digests))
	b.N, pos, err = f.Add(b.Answers, b.Digests)
	return pos, err
}

// Has is f.Has for the digests. The position is 0.
func (b *Batch) Has(f *Filter) (Position, error) {
	b.Answers = resized(b.Answers, len(b.Digests))
	err := f.Has(b.Answers, b.Digests)
	b.answered(err)
	return 0, err
}

// Remove is f.Remove for the digests.
func (b *Batch) Remove(f *Filter) (Position, error) {
	b.Answers = resized(b.Answers, len(b.Digests))
	pos, err := f.Remove(b.Answers, b.Digests)
	b.answered(err)
	return pos, err
}

// Count is f.Count for the digests. The position is 0.
func (b *Batch) Count(f *Filter) (Position, error) {
	b.Counts = resized(b.Counts, len(b.Digests))
	err := f.Count(b.Counts, b.Digests)
	b.answered(err)
	return 0, err
}

// answered notes how many digests have an answer: all or, after an error, none.
func (b *Batch) answered(err error) {
	if b.N = len(b.Digests); err != nil {
		b.N = 0
	}
}

func resized[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// Package heavy finds the digests that come most often in a stream, in memory that
// doesn't grow with it.
package heavy

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/umbel-filters/umbel"
)

// Summary counts digests with so many counters: the Space-Saving algorithm of
// Metwally, Agrawal and El Abbadi 2005, "Efficient computation of frequent and top-k
// elements in data streams". A digest that makes up more than one part in counters of
// the stream is among those counted, and a count is too high by no more than its
// Error. It isn't for concurrent use.
type Summary struct {
	counters int
	total    uint64
	least    counters // a heap, the least count first
	at       map[umbel.Digest]*counter
}

// Item is a digest and how often it came.
type Item struct {
	Digest umbel.Digest
	Count  uint64 // not too low
	Error  uint64 // it came Count - Error times at least
}

type counter struct {
	Item
	index int // in the heap
}

// New returns a summary with so many counters, at least 1.
func New(counters int) *Summary {
	return &Summary{counters: max(counters, 1), at: map[umbel.Digest]*counter{}}
}

// Add counts a digest. Where all counters are taken, the one with the least count
// becomes its own.
func (s *Summary) Add(d umbel.Digest) {
	s.total++
	if c, ok := s.at[d]; ok {
		c.Count++
		heap.Fix(&s.least, c.index)
		return
	}
	if len(s.least) < s.counters {
		c := &counter{Item: Item{Digest: d, Count: 1}}
		s.at[d] = c
		heap.Push(&s.least, c)
		return
	}
	c := s.least[0]
	delete(s.at, c.Digest)
	s.at[d] = c
	c.Item = Item{Digest: d, Count: c.Count + 1, Error: c.Count}
	heap.Fix(&s.least, 0)
}

// Total returns how many digests came.
func (s *Summary) Total() uint64 { return s.total }

// Items returns what is counted, those first that came most often for certain, and
// of equals in the order of the digests.
func (s *Summary) Items() []Item {
	items := make([]Item, 0, len(s.least))
	for _, c := range s.least {
		items = append(items, c.Item)
	}
	slices.SortFunc(items, func(a, b Item) int {
		return cmp.Or(cmp.Compare(b.Count-b.Error, a.Count-a.Error),
			cmp.Compare(a.Digest.H1, b.Digest.H1), cmp.Compare(a.Digest.H2, b.Digest.H2))
	})
	return items
}

// counters is a heap of counters.
type counters []*counter

func (h counters) Len() int           { return len(h) }
func (h counters) Less(i, j int) bool { return h[i].Count < h[j].Count }

func (h counters) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *counters) Push(x any) {
	c := x.(*counter)
	c.index = len(*h)
	*h = append(*h, c)
}

func (h *counters) Pop() any {
	c := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return c
}

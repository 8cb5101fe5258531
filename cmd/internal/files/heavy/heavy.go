// Package heavy finds the most frequent digests of a stream in constant memory.
package heavy

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/umbel-filters/umbel"
)

// Summary counts digests with a fixed number of counters c: the Space-Saving algorithm of
// Metwally, Agrawal and El Abbadi 2005, "Efficient computation of frequent and top-k
// elements in data streams". A digest with more than 1/c of the stream is counted, and a count
// is too high by at most its Error. It is not safe for concurrent use.
type Summary struct {
	counters int
	total    uint64
	least    counters // a heap, smallest count first
	at       map[umbel.Digest]*counter
}

// Item is a digest and its count.
type Item struct {
	Digest umbel.Digest
	Count  uint64 // at least the true count
	Error  uint64 // the true count is at least Count - Error
}

type counter struct {
	Item
	index int // in the heap
}

// New returns a summary with the given number of counters, at least 1.
func New(counters int) *Summary {
	return &Summary{counters: max(counters, 1), at: map[umbel.Digest]*counter{}}
}

// Add counts a digest. If all counters are in use, it takes over the one with the smallest
// count.
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

// Total returns the number of digests added.
func (s *Summary) Total() uint64 { return s.total }

// Items returns the items, sorted by descending Count - Error, then by digest.
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

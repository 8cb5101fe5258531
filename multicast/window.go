package multicast

import (
	"hash/maphash"
	"math/bits"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// maxSources bounds the memory of a window: 32 bytes per source and 4 per bucket, with at
// most two buckets per source.
const maxSources = 1 << 20

// window remembers which packets arrived, by source and sequence number. It has a fixed
// number of sources, and for each the highest sequence number and the 63 below it. If it
// is full, the source that was silent for longest is evicted.
//
// While a source is remembered, no sequence number of it passes twice, and none that is
// 64 or more below the highest passes at all. Sequence numbers wrap around: b is below a
// if a-b, modulo 2^32, is between 1 and 2^31.
type window struct {
	hash    maphash.Seed // secret, so that nobody can fill one bucket on purpose
	buckets []int32      // first entry of each chain, or none
	entries []entry
	used    int
	newest  int32
	oldest  int32
}

// entry is a source. Its links are indexes of entries, or none.
type entry struct {
	source, highest uint32
	seen            uint64 // bit i is set if sequence number highest-i arrived
	chain           int32  // next in the bucket
	older, newer    int32  // by the time of the last packet
}

const none = -1

// newWindow returns a window for the given number of sources.
func newWindow(sources int) (*window, error) {
	if sources < 1 || sources > maxSources {
		return nil, sentinel.Errorf(umbel.ErrGoal, "a window of %d sources, want 1 to %d", sources, maxSources)
	}
	w := &window{hash: maphash.MakeSeed(), entries: make([]entry, sources), newest: none, oldest: none}
	w.buckets = make([]int32, 1<<bits.Len(uint(sources-1)))
	for i := range w.buckets {
		w.buckets[i] = none
	}
	return w, nil
}

// pass reports whether a packet is new, and records it.
func (w *window) pass(source, sequence uint32) bool {
	b := w.bucket(source)
	i := w.find(b, source)
	if i == none {
		w.add(b, source, sequence)
		return true
	}
	e := &w.entries[i]
	if !e.fresh(sequence) {
		return false
	}
	if ahead := sequence - e.highest; int32(ahead) > 0 {
		e.seen = e.seen<<ahead | 1 // in Go a shift by 64 or more gives 0
		e.highest = sequence
	} else {
		e.seen |= 1 << -ahead
	}
	if i != w.newest {
		w.unlink(i)
		w.link(i)
	}
	return true
}

// isNew reports whether a packet would pass, without recording it.
func (w *window) isNew(source, sequence uint32) bool {
	i := w.find(w.bucket(source), source)
	return i == none || w.entries[i].fresh(sequence)
}

func (e *entry) fresh(sequence uint32) bool {
	behind := e.highest - sequence
	return int32(-behind) > 0 || behind < 64 && e.seen>>behind&1 == 0
}

func (w *window) bucket(source uint32) *int32 {
	return &w.buckets[maphash.Comparable(w.hash, source)&uint64(len(w.buckets)-1)]
}

func (w *window) find(bucket *int32, source uint32) int32 {
	i := *bucket
	for i != none && w.entries[i].source != source {
		i = w.entries[i].chain
	}
	return i
}

// add adds a source, replacing the oldest one if the window is full.
func (w *window) add(bucket *int32, source, sequence uint32) {
	i := int32(w.used)
	if w.used < len(w.entries) {
		w.used++
	} else {
		i = w.oldest
		w.unlink(i)
		w.unchain(i)
	}
	w.entries[i] = entry{source: source, highest: sequence, seen: 1, chain: *bucket}
	*bucket = i
	w.link(i)
}

// link makes an entry the newest.
func (w *window) link(i int32) {
	w.entries[i].older, w.entries[i].newer = w.newest, none
	if w.newest == none {
		w.oldest = i
	} else {
		w.entries[w.newest].newer = i
	}
	w.newest = i
}

// unlink removes an entry from the order.
func (w *window) unlink(i int32) {
	e := w.entries[i]
	if e.older == none {
		w.oldest = e.newer
	} else {
		w.entries[e.older].newer = e.newer
	}
	if e.newer == none {
		w.newest = e.older
	} else {
		w.entries[e.newer].older = e.older
	}
}

// unchain removes an entry from its bucket.
func (w *window) unchain(i int32) {
	at := w.bucket(w.entries[i].source)
	for *at != i {
		at = &w.entries[*at].chain
	}
	*at = w.entries[i].chain
}

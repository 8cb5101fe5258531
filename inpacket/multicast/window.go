package multicast

import (
	"fmt"
	"hash/maphash"
	"math/bits"
)

// maxSources bounds what a window takes: 32 bytes a source, and 4 for each bucket, at most
// two a source.
const maxSources = 1 << 20

// window remembers which packets of which sources came. It holds a fixed number of
// sources, of each the highest sequence and the 63 before it; when it is full, the
// source that was silent for longest is forgotten.
//
// As long as a source is remembered, no sequence of it passes twice, and none that
// is 64 or more behind the highest passes at all. Sequences wrap around: b is behind
// a if a-b, modulo 2^32, is above 0 and at most 2^31.
type window struct {
	hash    maphash.Seed // who doesn't know it can't fill one bucket
	buckets []int32      // first entry of each chain, or none
	entries []entry
	used    int
	newest  int32
	oldest  int32
}

// entry is a source; the numbers are indexes of entries, or none.
type entry struct {
	source, highest uint32
	seen            uint64 // bit i: highest-i came
	chain           int32  // next of the bucket
	older, newer    int32  // by when they last sent
}

const none = -1

// newWindow returns a window of so many sources.
func newWindow(sources int) (*window, error) {
	if sources < 1 || sources > maxSources {
		return nil, fmt.Errorf("multicast: a window of %d sources; it holds 1 to %d", sources, maxSources)
	}
	w := &window{hash: maphash.MakeSeed(), entries: make([]entry, sources), newest: none, oldest: none}
	w.buckets = make([]int32, 1<<bits.Len(uint(sources-1)))
	for i := range w.buckets {
		w.buckets[i] = none
	}
	return w, nil
}

// pass reports whether a packet is new, and remembers it.
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
		e.seen = e.seen<<ahead | 1 // Go shifts everything out from 64 on
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

// new reports whether a packet would pass, and remembers nothing.
func (w *window) new(source, sequence uint32) bool {
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

// add remembers a source that isn't there, in the place of the oldest if need be.
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

// unlink takes an entry out of the order.
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

// unchain takes an entry out of its bucket.
func (w *window) unchain(i int32) {
	at := w.bucket(w.entries[i].source)
	for *at != i {
		at = &w.entries[*at].chain
	}
	*at = w.entries[i].chain
}

package probe

import (
	"sync"
	"unsafe"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
)

const (
	// loaderFrom is the size in words from which a Loader pays: 8 MiB, several times the cache of a core.
	loaderFrom = 1 << 20
	// regionLog is log2 of the least number of bits of a region: 256 KiB, which fit into the cache of a core
	// next to the lists of a goroutine.
	regionLog = 21
	// maxRegions limits the lists that a goroutine writes at a time. Regions are larger in a large array.
	maxRegions = 1024
	// listCells is the number of cells in a goroutine's list. In long lists the copies to a queue, and the
	// cache misses there, overlap.
	listCells = 256
	// maxQueues limits the memory of all queues, in cells: 256 MiB. In a smaller array they have two cells per word, so
	// that 16 are set for each cache line that is loaded.
	maxQueues = 1 << 26
)

// Loader adds keys to a large array of bits: see [umbel.Loader]. Setting bits at random places costs a cache
// miss each, and, if several goroutines do so, an atomic instruction. A Loader collects cells by region of the
// array in two steps. Each goroutine has a short list per region, all of which fit into the cache of a core. A full
// list is appended to the region's queue, which all goroutines share. The goroutine that fills a queue sets its
// bits.
type Loader struct {
	bits   *Bits
	log    uint8 // log2 of the bits per region, at most 32
	queues []queue

	mu   sync.Mutex
	idle []*lists // of goroutines that are not in AddAll
}

// queue contains cells of one region. They are stored mod 2^32.
type queue struct {
	mu    sync.Mutex
	cells []uint32 // has room for another list
}

// lists are the lists of one goroutine.
type lists struct {
	next  []uint32 // index in cells of the end of each list
	cells []uint32 // listCells for each region
}

// loaderShape is how a Loader divides an array. The zero loaderShape is that of an array that has no Loader.
type loaderShape struct {
	regions uint64
	log     uint8  // log2 of the bits per region, 6 to 32
	room    uint64 // cells per queue, at least two lists
}

// loaderShapeOf returns the shape for an array of n words.
func loaderShapeOf(n uint64) loaderShape {
	if n < loaderFrom || n > maxRegions<<(32-6) {
		return loaderShape{}
	}
	s := loaderShape{log: regionLog}
	for s.regions = regionsOf(n, s.log); s.regions > maxRegions; s.regions = regionsOf(n, s.log) {
		s.log++
	}
	s.room = min(2*n, maxQueues) / s.regions
	return s
}

// bytes returns the memory of all queues.
func (s loaderShape) bytes() uint64 { return s.regions * s.room * 4 }

// regionsOf returns the number of regions of 2^log bits in n words.
func regionsOf(n uint64, log uint8) uint64 {
	words := uint64(1) << (log - 6)
	return (n + words - 1) / words
}

// NewLoader returns a Loader that adds to b, with at most the given bytes of memory apart from its lists. It returns nil
// if it needs more, or if the array is too small to gain from a Loader or too large for one.
func (b *Bits) NewLoader(most uint64) umbel.Loader {
	s := loaderShapeOf(uint64(len(b.words)))
	if s.regions == 0 || s.bytes() > most {
		return nil
	}
	return b.newLoader(s)
}

func (b *Bits) newLoader(s loaderShape) *Loader {
	l := &Loader{bits: b, log: s.log, queues: make([]queue, s.regions)}
	a, err := cells.New(s.regions*s.room, 32)
	if err != nil {
		panic(err) // the cells need less memory than b
	}
	all := unsafe.Slice((*uint32)(unsafe.Pointer(&a.Words[0])), a.Len) // in large pages
	for r := range l.queues {
		l.queues[r].cells, all = all[:0:s.room], all[s.room:]
	}
	return l
}

// AddAll adds ds. It is safe to call concurrently with itself.
func (l *Loader) AddAll(ds []umbel.Digest) {
	own := l.take()
	var at [maxBatch]uint64
	for len(ds) > 0 {
		now := ds[:min(len(ds), maxBatch)]
		var base uint64
		for i := range l.bits.table.k {
			l.bits.slice.all(at[:], now, Offset(i), base)
			l.collect(own, at[:len(now)])
			base += l.bits.stride
		}
		ds = ds[len(now):]
	}
	l.mu.Lock()
	l.idle = append(l.idle, own)
	l.mu.Unlock()
}

// take returns lists that no other goroutine uses.
func (l *Loader) take() *lists {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.idle); n > 0 {
		own := l.idle[n-1]
		l.idle = l.idle[:n-1]
		return own
	}
	own := &lists{make([]uint32, len(l.queues)), make([]uint32, len(l.queues)*listCells)}
	for r := range own.next {
		own.next[r] = uint32(r * listCells)
	}
	return own
}

// all sets at[i] to base and the position of the first value of ds[i], moved by offset.
func (m Mapping) all(at []uint64, ds []umbel.Digest, offset umbel.Digest, base uint64) {
	at = at[:len(ds)]
	if m.Log == WordLog { // with a constant shift the loop takes half the time
		for i, d := range ds {
			v, _ := Stream{d.H1 + offset.H1, d.H2 + offset.H2}.Next()
			at[i] = base + (Reduce(v, m.Groups)<<WordLog | v&(1<<WordLog-1))
		}
		return
	}
	for i, d := range ds {
		v, _ := Stream{d.H1 + offset.H1, d.H2 + offset.H2}.Next()
		at[i] = base + m.At(v)
	}
}

// collect appends cells to the lists, and full lists to their queues.
func (l *Loader) collect(own *lists, at []uint64) {
	for len(at) > 0 {
		n := own.collect(at, l.log)
		if r := at[n-1] >> (l.log & 63); own.next[r] == uint32(r+1)*listCells {
			l.empty(own, r)
		}
		at = at[n:]
	}
}

// collect appends cells to the lists until one is full. It returns the number of cells appended. (It calls nothing, so
// that all variables are in registers.)
func (s *lists) collect(at []uint64, log uint8) int {
	next, to, log := s.next, s.cells, log&63
	for i, p := range at {
		end := &next[p>>log]
		to[*end] = uint32(p)
		*end++
		if *end%listCells == 0 {
			return i + 1
		}
	}
	return len(at)
}

// empty moves the cells of list r to its queue, and sets the bits of the queue if it is then full.
func (l *Loader) empty(own *lists, r uint64) {
	first := uint32(r) * listCells
	q := &l.queues[r]
	q.mu.Lock()
	defer q.mu.Unlock()
	q.cells = append(q.cells, own.cells[first:own.next[r]]...)
	own.next[r] = first
	if len(q.cells)+listCells > cap(q.cells) {
		l.set(q, r)
	}
}

// set sets the bits of queue r. The processor has many misses at a time, since the loop is short.
func (l *Loader) set(q *queue, r uint64) {
	words := l.bits.words[r<<((l.log-6)&63):]
	mask := uint32(1<<l.log - 1)
	for _, i := range q.cells {
		i &= mask
		words[i>>6] |= 1 << (i & 63)
	}
	q.cells = q.cells[:0]
}

// Flush sets the bits of all cells. It may not run concurrently with AddAll.
func (l *Loader) Flush() {
	for _, own := range l.idle {
		for r := range l.queues {
			l.empty(own, uint64(r))
		}
	}
	for r := range l.queues {
		l.set(&l.queues[r], uint64(r))
	}
}

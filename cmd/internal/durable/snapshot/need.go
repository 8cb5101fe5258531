package snapshot

import (
	"math"

	"github.com/umbel-filters/umbel/cmd/internal/engine"
)

const (
	// entryBytes is the size of a filter's entry in the catalog without its segments and its name, at
	// most. referenceBytes is that of a segment.
	entryBytes, referenceBytes = 400, 40
	// fixedBytes is the size of what a snapshot writes in any case.
	fixedBytes = 64 << 10
)

// Bytes returns the number of bytes that a snapshot writes at most. The filters take the given number of bytes of memory
// together.
func Bytes(filters uint64) uint64 {
	return fixedBytes + filters + filters/engine.SegmentBytes*referenceBytes
}

// Needed returns the number of bytes that the next snapshot may write, or that the one that is being taken
// may still write, as of the last call of Estimate.
func (t *Taker) Needed() uint64 { return t.unspent(t.needed.Load()) }

// NeededForAll is Needed if all filters change before.
func (t *Taker) NeededForAll() uint64 { return t.unspent(Bytes(t.engine.Stored())) }

// unspent returns what is left of a number of bytes for the snapshot that is being taken.
func (t *Taker) unspent(needed uint64) uint64 { return needed - min(needed, t.spent.Load()) }

// Estimate determines Needed: the size of the filters that changed since the last snapshot, of the pieces that
// are to be rewritten, and of the catalog. It examines each filter only if all of them together are
// more than half of left bytes. While a snapshot is being taken it does nothing.
func (t *Taker) Estimate(left int64) {
	select {
	case t.turn <- struct{}{}:
		defer t.unlock()
	default:
		return
	}
	all := Bytes(t.engine.Stored())
	if int64(all) <= left/2 {
		t.needed.Store(all)
		return
	}
	n := uint64(fixedBytes)
	t.engine.ListAll(0, math.MaxInt, func(f *engine.Filter) bool {
		bytes := f.Bytes()
		n += entryBytes + uint64(len(f.Name())) + bytes/engine.SegmentBytes*referenceBytes
		if !t.set.has(f.ID(), engine.Position(f.Version())) {
			n += bytes
		}
		return true
	})
	for piece, live := range t.set.live {
		if int64(live)*2 < t.files.Size(piece) { // copier.moves
			n += uint64(live)
		}
	}
	t.needed.Store(min(n, all))
}

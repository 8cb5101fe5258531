package snapshot

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"slices"

	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/internal/event"
)

// Set is the snapshots on disk.
type Set struct {
	Current, Previous *Snapshot // the last two that are usable; nil if there is none

	upTo             engine.Position     // filters whose last change this includes are in Current as they are, except changed
	changed          []uint64            // filters that recovery changed, ascending
	unusable         map[uint64]struct{} // filters whose entries in Current are damaged
	live, liveBefore map[uint64]int      // bytes of pieces to which Current and Previous refer, by piece
}

// MarkUnusable notes that the current snapshot has the filter, but damaged.
func (s *Set) MarkUnusable(id uint64) {
	if s.unusable == nil {
		s.unusable = make(map[uint64]struct{})
	}
	s.unusable[id] = struct{}{}
}

// NoteRecovered notes that the current snapshot, if it has a filter, has it as it is now that the changes
// up to a position were replayed. Those in changed differ. Without a snapshot it notes nothing.
func (s *Set) NoteRecovered(upTo engine.Position, changed map[uint64]bool) {
	if s.Current != nil {
		s.upTo, s.changed = upTo, slices.Sorted(maps.Keys(changed)) // kept until the next snapshot
	}
}

// has reports whether the current snapshot, if it has the filter, has it with all changes up to one.
func (s *Set) has(id uint64, last engine.Position) bool {
	_, changed := slices.BinarySearch(s.changed, id)
	return last <= s.upTo && !changed
}

// Count counts the bytes to which the snapshots refer. The error wraps umbel.ErrCorrupt if a catalog
// is unreadable; previous is true if it is that of the previous snapshot.
func (s *Set) Count(ctx context.Context, pieces *Cache) (previous bool, err error) {
	if s.live, err = count(ctx, pieces, s.Current); err != nil {
		return false, err
	}
	s.liveBefore, err = count(ctx, pieces, s.Previous)
	return err != nil, err
}

// DropPrevious forgets the previous snapshot.
func (s *Set) DropPrevious() { s.Previous, s.liveBefore = nil, nil }

// count returns the number of bytes of each piece to which a snapshot refers.
func count(ctx context.Context, pieces *Cache, s *Snapshot) (map[uint64]int, error) {
	live := make(map[uint64]int)
	if s == nil {
		return live, nil
	}
	refer(live, s.Catalog)
	return live, ReadCatalog(ctx, pieces, s, func(b []byte) error {
		refer(live, entrySegments(b))
		return nil
	})
}

// refer adds the bytes of references to live.
func refer(live map[uint64]int, refs []Reference) {
	for _, r := range refs {
		if !r.IsZero() {
			live[r.piece] += int(r.length)
		}
	}
}

// lastEntries reads the entries of the last snapshot one after the other. They are not kept in memory: an
// entry is larger than a small filter.
type lastEntries struct {
	set   *Set
	log   *slog.Logger
	r     *entryReader // nil after the end
	id    uint64       // of entry
	entry []byte
}

func newLastEntries(ctx context.Context, t *Taker) lastEntries {
	l := lastEntries{set: &t.set, log: t.o.Log}
	if t.set.Current != nil {
		l.r = newEntryReader(ctx, NewCache(t.files), t.set.Current)
	}
	return l
}

// find returns the entry of a filter, or nil if there is no usable one. IDs must ascend, as they do in
// catalogs. If the catalog is unreadable, there are no further entries.
func (l *lastEntries) find(id uint64) []byte {
	for l.r != nil && l.id < id {
		entry, err := l.r.next()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				l.log.Warn("last snapshot unreadable; writing all filters", event.DamageRepaired, "error", err)
			}
			*l = lastEntries{}
			return nil
		}
		l.id, l.entry = EntryID(entry), entry
	}
	if l.id != id || l.r == nil {
		return nil
	}
	if _, bad := l.set.unusable[id]; bad {
		return nil
	}
	return l.entry
}

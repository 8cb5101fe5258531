package snapshot

import (
	"context"

	"github.com/umbel-filters/umbel/cmd/internal/engine"
)

// Set is the snapshots on disk.
type Set struct {
	Current, Previous *Snapshot // the last two that are usable; nil if there is none

	entries          map[uint64]entry // of the current snapshot, by filter
	live, liveBefore map[uint64]int   // bytes of pieces to which Current and Previous refer, by piece
}

// entry is the entry of a filter in the catalogue.
type entry struct {
	version uint64 // of the filter when it was copied
	known   bool   // version is one of this process
	bytes   []byte
}

// AddEntry adds an entry of the current snapshot, which restored a filter.
func (s *Set) AddEntry(id uint64, bytes []byte) {
	if s.entries == nil {
		s.entries = make(map[uint64]entry)
	}
	s.entries[id] = entry{bytes: bytes}
}

// NoteVersion notes that the current snapshot has the filter as it is now.
func (s *Set) NoteVersion(f *engine.Filter) {
	if e, ok := s.entries[f.ID()]; ok {
		e.version, e.known = f.Version(), true
		s.entries[f.ID()] = e
	}
}

// Count counts the bytes to which the snapshots refer. The error wraps umbel.ErrCorrupt if a catalogue
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
	refer(live, s.Catalogue)
	return live, ReadCatalogue(ctx, pieces, s, func(b []byte) error {
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

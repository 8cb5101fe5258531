package snapshot

import (
	"context"
	"errors"
	"io"
	"log/slog"
)

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
// catalogues. If the catalogue is unreadable, there are no further entries.
func (l *lastEntries) find(id uint64) []byte {
	for l.r != nil && l.id < id {
		entry, err := l.r.next()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				l.log.Warn("last snapshot unreadable; writing all filters", "error", err)
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

package wal_test

import (
	"fmt"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/durable/disk"
	"github.com/umbel-filters/umbel/cmd/internal/durable/wal"
)

// A segment that the disk cannot read fails, unless that is accepted: then what it contains there is damaged, and
// the rest is read. The next segment does not use its file again.
func TestUnreadableSegment(t *testing.T) {
	const entries = 150
	d, segments := sound(t, entries, true)
	if len(segments) < 3 {
		t.Fatalf("segments %q", segments)
	}
	for i, name := range segments {
		size := len(d.File(name))
		for _, bad := range [][2]int{{0, size}, {0, 1}, {4096, 4097}, {8192, size}, {size - 1, size}} {
			what := fmt.Sprintf("%s, bytes %d to %d", name, bad[0], bad[1])
			c := d.Clone()
			c.Spoil(name, bad[0], bad[1])
			l, err := wal.OpenDir(c.Dir(), wal.Options{SegmentBytes: segmentBytes})
			if err == nil {
				err = l.Read(ctx, 1, func(uint64, []byte) error { return nil })
				if e := l.Close(); e != nil {
					t.Errorf("%s: %v", what, e)
				}
			}
			wants := &bench{T: t}
			wants.wants(err, disk.ErrUnreadable)

			b := &bench{T: t, disk: c, o: wal.Options{SegmentBytes: segmentBytes, AcceptUnreadable: true}}
			b.open()
			got := read(t, b.log, 1)
			last := i == len(segments)-1
			if whole := spans(1, entries); got == whole && (last || bad[1]-bad[0] > 4096) {
				t.Errorf("%s: read %s", what, got)
			}
			_, end := b.log.Bounds()
			next := b.log.Next()
			if next <= end || end < entries {
				t.Errorf("%s: the next entry is %d, the last one was %d", what, next, end)
			}
			b.must(add(b.log, entryOf(next, 1)))
			b.must(b.log.Purge(ctx, next))
			b.again()
			b.read(next, spans(next, next))
			b.must(b.log.Close())
			l, err = wal.OpenDir(c.Dir(), wal.Options{SegmentBytes: segmentBytes})
			b.must(err)
			b.must(l.Close())
		}
	}
}

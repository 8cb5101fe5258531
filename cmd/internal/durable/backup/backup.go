// Package backup writes the last snapshot and the log after it to one stream, verifies such streams, and
// restores directories from them.
package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/recovery"
	"github.com/umbel-filters/umbel/cmd/internal/durable/snapfile"
	"github.com/umbel-filters/umbel/cmd/internal/durable/snapshot"
	"github.com/umbel-filters/umbel/cmd/internal/durable/wal"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Write writes a backup: a snapshot, or nil, and the batches of the log after it that exist when it is
// called. The snapshot and the batches must not be deleted meanwhile. seed is the seed of the hash of new
// filters, or nil.
func Write(ctx context.Context, w io.Writer, l *wal.Log, files *snapfile.Dir, s *snapshot.Snapshot, seed []byte) error {
	first, last := l.Bounds()
	var filters, batches uint64
	if s != nil {
		first, filters = s.Batch, s.Filters
	}
	f := newFrameWriter(w)
	if err := f.frame(frameHead, encodeHead(s)); err != nil {
		return err
	}
	if seed != nil {
		if err := f.frame(frameSeed, seed); err != nil {
			return err
		}
	}
	if s != nil && s.Missing != nil {
		if err := f.frame(frameMissing, uvarints(uint64(s.Missing.Since), s.Missing.Batches)); err != nil {
			return err
		}
	}
	if s != nil {
		if err := writeFilters(ctx, f, files, s); err != nil {
			return err
		}
	}
	end := errors.New("end")
	err := l.Read(ctx, first, func(number uint64, b []byte) error {
		if number > last {
			return end
		}
		batches++
		return f.frame(frameBatch, b)
	})
	if err != nil && !errors.Is(err, end) {
		return err
	}
	return f.end(filters, batches)
}

// writeFilters writes the filters of a snapshot.
func writeFilters(ctx context.Context, f *frameWriter, files *snapfile.Dir, s *snapshot.Snapshot) error {
	pieces := snapshot.NewCache(files)
	return snapshot.ReadCatalog(ctx, pieces, s, func(entry []byte) error {
		m, segments, err := snapshot.ReadEntry(entry, recovery.Limits())
		if err != nil {
			return err
		}
		plain := make([]snapshot.Reference, len(segments))
		for i, r := range segments {
			plain[i] = r.WithoutPlace()
		}
		if err := f.frame(frameFilter, snapshot.AppendEntry(nil, &m, plain)); err != nil {
			return err
		}
		for _, r := range segments {
			if r.IsZero() {
				continue
			}
			b, err := pieces.Read(ctx, r)
			if err != nil {
				return fmt.Errorf("filter %q: %w", m.Name, err)
			}
			if err := f.frame(frameSegment, b); err != nil {
				return err
			}
		}
		return nil
	})
}

// Restore makes a log and a snapshot from a backup. Both must be empty. Until the backup has been read
// completely, a start refuses them. It returns the seed that Write was given.
func Restore(ctx context.Context, in io.Reader, l *wal.Log, files *snapfile.Dir) (seed []byte, err error) {
	if _, last := l.Bounds(); last != 0 || files.LastNumber() != 0 || len(files.Pieces()) != 0 {
		return nil, errors.New("restore needs an empty directory")
	}
	into, err := snapshot.NewImport(files)
	if err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	var restored *snapshot.Snapshot
	err = read(in, contents{
		head: func(s *snapshot.Snapshot) error {
			restored = s
			return nil
		},
		seed: func(b []byte) error {
			seed = bytes.Clone(b)
			return nil
		},
		missing: func(m engine.MissingNames) error {
			if restored == nil {
				return corrupt("has missing names and no snapshot")
			}
			restored.Missing = &m
			return nil
		},
		filter: func(f *frameReader, m engine.Meta, segments []snapshot.Reference) error {
			return into.Filter(ctx, m, len(segments), func(i int) ([]byte, error) { return f.segment(segments[i]) })
		},
		batch: func(b []byte) error {
			_, err := l.Propose(ctx, b, nil)
			return err
		},
	})
	if err == nil {
		_, err = l.Commit(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	if restored != nil {
		restored.Batch, _ = l.Bounds()
	}
	if err := into.Publish(ctx, restored); err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	return seed, nil
}

// Verify reads a backup into e, which must be empty, as a start would. The error wraps umbel.ErrCorrupt
// if the backup is damaged.
func Verify(ctx context.Context, in io.Reader, e *engine.Engine) (recovery.Report, error) {
	begin := time.Now()
	p := recovery.NewReplayer(e)
	err := read(in, contents{
		head: func(s *snapshot.Snapshot) error {
			if s != nil {
				p.Begin(s)
			}
			return ctx.Err()
		},
		seed: func([]byte) error { return nil },
		missing: func(m engine.MissingNames) error {
			e.SetMissingNames(&m)
			return nil
		},
		filter: func(f *frameReader, m engine.Meta, segments []snapshot.Reference) error {
			p.Restored(m.ID, m.From)
			return verifyFilter(ctx, f, e, m, segments)
		},
		batch: func(b []byte) error { return errors.Join(p.Batch(b), ctx.Err()) },
	})
	if err != nil {
		return recovery.Report{}, fmt.Errorf("verify: %w", err)
	}
	report, err := p.End()
	report.Took = time.Since(begin)
	if err != nil {
		return report, fmt.Errorf("verify: %w", err)
	}
	return report, nil
}

// verifyFilter restores a filter of a backup.
func verifyFilter(ctx context.Context, f *frameReader, e *engine.Engine, m engine.Meta, segments []snapshot.Reference) error {
	index := snapshot.SegmentIndex(&m.State)
	next := 0
	err := e.Restore(m, func(g engine.Segment, dst []byte) error {
		if i := index(g); i != next {
			return fmt.Errorf("segment %d is read after %d", i, next-1)
		}
		b, err := f.segment(segments[next])
		if err != nil {
			return err
		}
		if copy(dst, b) != len(dst) {
			return corrupt("has a segment of %d bytes, want %d", len(b), len(dst))
		}
		next++
		return ctx.Err()
	})
	if err == nil && next != len(segments) {
		err = sentinel.Errorf(umbel.ErrCorrupt, "%d segments of %d are read", next, len(segments))
	}
	if err != nil {
		return fmt.Errorf("filter %q: %w", m.Name, err)
	}
	return nil
}

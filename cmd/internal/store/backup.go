package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/changelog"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/oplog"
	"github.com/umbel-filters/umbel/cmd/internal/snapfile"
	"github.com/umbel-filters/umbel/cmd/internal/statecode"
)

// Backup writes all there is to w, while the node runs: the last snapshot and the log since
// then, which is to say all that was appended before Backup was called. Nothing that it
// needs is deleted meanwhile.
func (s *Store) Backup(ctx context.Context, w io.Writer) error {
	if err := s.Sync(ctx); err != nil {
		return err
	}
	current := s.hold()
	defer s.release(ctx)
	first, last := s.log.Bounds()
	if current != nil {
		first = current.batch
	}
	f := newFrameWriter(w)
	if err := f.frame(frameHead, backupHead(current)); err != nil {
		return err
	}
	var filters, batches uint64
	if current != nil {
		if err := s.backupFilters(ctx, f, current); err != nil {
			return fmt.Errorf("store: backup: %w", err)
		}
		filters = current.filters
	}
	done := errors.New("that was the last")
	err := s.log.Read(ctx, first, func(number uint64, b []byte) error {
		if number > last {
			return done
		}
		batches++
		return f.frame(frameBatch, b)
	})
	if err != nil && !errors.Is(err, done) {
		return fmt.Errorf("store: backup: %w", err)
	}
	return f.end(filters, batches)
}

// hold returns the last snapshot, and sees to it that it and the log stay until release.
func (s *Store) hold() *snapshot {
	s.snapping.Lock()
	defer s.snapping.Unlock()
	s.reading++
	return s.archive.current
}

func (s *Store) release(ctx context.Context) {
	s.snapping.Lock()
	defer s.snapping.Unlock()
	s.reading--
	if err := s.tidy(context.WithoutCancel(ctx)); err != nil {
		s.o.Log.Warn("cleanup after backup failed", "error", err)
	}
}

// backupFilters writes the filters of a snapshot.
func (s *Store) backupFilters(ctx context.Context, f *frameWriter, current *snapshot) error {
	pieces := newPieceCache(s.files)
	return readCatalogue(ctx, pieces, current.catalogue, func(entry []byte) error {
		m, segments, err := readEntry(entry, limits())
		if err != nil {
			return err
		}
		plain := make([]reference, len(segments))
		for i, r := range segments {
			plain[i] = r
			plain[i].offset = 0
			plain[i].piece = min(r.piece, 1)
		}
		if err := f.frame(frameFilter, appendEntry(nil, &m, plain)); err != nil {
			return err
		}
		for _, r := range segments {
			if r.piece == 0 {
				continue
			}
			b, err := pieces.read(ctx, r)
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

// Restore makes a log and a snapshot from a backup. Both must be empty. Until the backup has been
// read completely, Open refuses them.
func Restore(ctx context.Context, r io.Reader, l oplog.Log, files *snapfile.Dir) (Report, error) {
	begin := time.Now()
	var report Report
	if _, last := l.Bounds(); last != 0 || files.LastNumber() != 0 || len(files.Pieces()) != 0 {
		return report, errors.New("store: restore needs an empty directory")
	}
	const unfinished, finished = 1, 2
	if err := files.Publish(unfinished, 0, manifest{unfinished: true}.append(nil)); err != nil {
		return report, fmt.Errorf("store: restore: %w", err)
	}
	p := newPacker(files)
	var entries [][]byte
	p.entry = func(_, _ uint64, entry []byte) { entries = append(entries, entry) }
	var current *snapshot
	err := readBackup(r, func(s *snapshot) error {
		current = s
		return nil
	}, func(f *frameReader, m engine.Meta, segments []reference) error {
		report.Filters++
		report.Bytes += statecode.Size(&m.State)
		return p.restore(ctx, f, m, segments)
	}, func(b []byte) error {
		report.Batches++
		_, err := l.Append(ctx, b)
		return err
	})
	if err != nil {
		return report, fmt.Errorf("store: restore: %w", err)
	}
	if err := p.flush(ctx); err != nil {
		return report, err
	}
	for _, b := range entries {
		if err := p.enter(ctx, b); err != nil {
			return report, err
		}
	}
	catalogue, err := p.finish(ctx)
	if err != nil {
		return report, err
	}
	position := engine.Position(0)
	if current != nil {
		current.number, position = finished, current.position
		current.batch, _ = l.Bounds()
		current.filters, current.bytes, current.catalogue = uint64(report.Filters), report.Bytes, catalogue
		report.Snapshot = current.time()
	}
	err = files.Publish(finished, uint64(position), manifest{snapshot: current}.append(nil))
	if err == nil {
		err = files.Sweep([]uint64{finished}, func(uint64) bool { return true })
	}
	if err != nil {
		return report, fmt.Errorf("store: restore: %w", err)
	}
	report.Took = time.Since(begin)
	return report, nil
}

// restore adds a filter of a backup.
func (p *packer) restore(ctx context.Context, f *frameReader, m engine.Meta, segments []reference) error {
	made := make([]*reference, len(segments))
	for i, r := range segments {
		b, err := f.segment(r)
		if err != nil {
			return err
		}
		room, err := p.room(ctx)
		if err != nil {
			return err
		}
		made[i] = p.add(copy(room, b), nil)
	}
	return p.filter(ctx, m, 0, made)
}

// Verify reads a backup into e, which must be empty, as a start would. The error wraps
// umbel.ErrCorrupt if it isn't whole.
func Verify(ctx context.Context, in io.Reader, e *engine.Engine) (Report, error) {
	begin := time.Now()
	r := newRecovery(nil, nil, e, Options{Log: slog.New(slog.DiscardHandler)})
	p := &changelog.Reader{Limits: limits(), Each: r.apply}
	err := readBackup(in, func(s *snapshot) error {
		if s != nil {
			r.use(s)
			r.report.Snapshot = s.time()
		}
		p.Single = r.single
		return ctx.Err()
	}, func(f *frameReader, m engine.Meta, segments []reference) error {
		return r.verify(ctx, f, m, segments)
	}, func(b []byte) error {
		r.report.Batches++
		if err := r.bridge(p, b); err != nil {
			return err
		}
		return errors.Join(p.Batch(b), ctx.Err())
	})
	if err == nil {
		err = p.Flush()
	}
	if err == nil {
		err = r.checkEnd(p)
	}
	if err == nil {
		err = e.FinishReplay()
	}
	if err != nil {
		return r.report, fmt.Errorf("store: verify: %w", err)
	}
	r.report.Filters, r.report.Took = e.Len(), time.Since(begin)
	r.report.Bytes, _ = e.Memory()
	return r.report, nil
}

// verify puts a filter of a backup to the engine.
func (r *recovery) verify(ctx context.Context, f *frameReader, m engine.Meta, segments []reference) error {
	index := segmentIndex(&m.State)
	next := 0
	err := r.engine.Restore(m, func(g engine.Segment, dst []byte) error {
		if i := index(g); i != next {
			return fmt.Errorf("segment %d is asked for after %d", i, next-1)
		}
		b, err := f.segment(segments[next])
		if err != nil {
			return err
		}
		if copy(dst, b) != len(dst) {
			return errBackup("has a segment of %d bytes, want %d", len(b), len(dst))
		}
		next++
		return ctx.Err()
	})
	if err == nil && next != len(segments) {
		err = fmt.Errorf("%d segments of %d are asked for: %w", next, len(segments), umbel.ErrCorrupt)
	}
	r.copied[m.ID] = m.From
	if err != nil {
		return fmt.Errorf("filter %q: %w", m.Name, err)
	}
	return nil
}

package wal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/umbel-filters/umbel/cmd/internal/durable/disk"
)

// olderName is the directory in which older programs stored their log.
const olderName = "jetstream"

// migrate says how to go on with the directory of an older program.
const migrate = "the directory was written by an older umbel, which stored its log in JetStream; " +
	"make a backup with that program (umbel backup make --data DIR -o FILE), then restore it with this one (umbel backup restore FILE --data NEW-DIR)"

// Supported returns an error that wraps ErrVersion and contains the commands that migrate the data if a
// directory was written by a program whose log this one does not read. A directory that does not
// exist is supported.
func Supported(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, olderName)); err == nil {
		return fmt.Errorf("%w: %s", ErrVersion, migrate)
	}
	return nil
}

// Open opens the log in a directory, which is made if it does not exist. It reads the last segment;
// damage before it is found by Read. The error wraps disk.ErrLocked or ErrVersion, or fs.ErrNotExist with
// ReadOnly. If durable batches are lost at the end, Open succeeds, Read reports them, and nothing
// can be proposed until the loss is accepted.
func Open(dir string, o Options) (*Log, error) {
	files := disk.OS(dir)
	if !o.ReadOnly {
		var err error
		if files, err = disk.Make(dir); err != nil {
			return nil, err
		}
	}
	return OpenDir(files, o)
}

// OpenDir is Open for a directory that exists.
func OpenDir(dir disk.Dir, o Options) (*Log, error) {
	lock, err := dir.Lock(o.ReadOnly)
	if err != nil {
		return nil, err
	}
	o = o.withDefaults()
	l := &Log{dir: newReads(dir, o), o: o, lock: lock, disk: o.Disk.Files(), writing: make(turn, 1), syncing: make(turn, 1)}
	if err := l.open(); err != nil {
		errs := []error{err, l.headFile.close()}
		if l.active != nil {
			errs = append(errs, l.active.file.Close())
		}
		return nil, errors.Join(append(errs, lock.Close())...)
	}
	l.count()
	return l, nil
}

func (l *Log) open() error {
	files, err := list(l.dir, l.o.Log.Warn)
	switch {
	case err != nil:
		return err
	case files.older:
		return fmt.Errorf("%w: %s", ErrVersion, migrate)
	case l.o.ReadOnly && len(files.heads) == 0 && len(files.segments) == 0:
		return fmt.Errorf("no log: %w", fs.ErrNotExist)
	}
	l.segments, l.spares, l.generation = files.segments, files.spares, files.made
	noHead, err := l.openHead(files.heads)
	if err != nil {
		return err
	}
	fresh := noHead && len(l.segments) == 0
	end, err := l.findEnd()
	if err != nil {
		return err
	}
	l.tip, l.durable, l.floor = end.tip, end.tip, end.proof
	l.first = l.head.first
	if noHead {
		l.first = 1
		if len(l.segments) > 0 {
			l.first = l.segments[0].first
		}
		l.head.first, l.head.durable = l.first, end.tip
	}
	switch {
	case end.tip.index < end.proof:
		l.lost = hole(end.tip.index+1, end.proof, "they were durable and are missing or altered at the end of the log")
	case noHead && !fresh:
		l.lost = fmt.Errorf("%w: batches after %d, if there were any: %w", ErrHole, l.last(), errNoHead)
	case end.foreign:
		l.lost = fmt.Errorf("%w: %w", ErrHole, errForeign)
	case end.unread:
		l.lost = fmt.Errorf("%w: batches after %d, if there were any: %w", ErrHole, l.last(), errUnread)
	default:
		l.torn = end.torn
	}
	if l.o.ReadOnly {
		return nil
	}
	return l.prepare(files, end)
}

// findEnd reads the last segment whose header is whole.
func (l *Log) findEnd() (tail, error) {
	end := tail{tip: l.head.durable, end: segmentHeader, proof: l.head.durable.index}
	for i := len(l.segments) - 1; i >= 0; i-- {
		s := l.segments[i]
		if s.bad != nil {
			end.proof = max(end.proof, s.first) // at least one entry is lost
			end.tip = link{}
			continue
		}
		f, err := l.dir.Open(s.name())
		if err != nil {
			return tail{}, err
		}
		end, err = readTail(f, s, l.head.durable, end.proof)
		if err = errors.Join(err, f.Close()); err != nil {
			return tail{}, err
		}
		end.segment = s
		end.unread = l.dir.isUnread(s.name())
		break
	}
	if end.tip.index < end.proof && end.proof < l.head.first {
		// What is missing was removed by Purge.
		end = tail{tip: l.head.durable, proof: end.proof}
	}
	if end.segment == nil && end.tip.index >= l.head.first {
		end.tip = link{} // all segments are lost
	}
	return end, nil
}

// prepare makes the log ready to be written to.
func (l *Log) prepare(files listing, end tail) error {
	for _, name := range files.strays {
		if err := l.dir.Remove(name); err != nil {
			return err
		}
	}
	if l.lost != nil {
		return nil // the damaged files stay as they are
	}
	if end.segment != nil {
		if err := l.continueSegment(end); err != nil {
			return err
		}
	}
	l.head.durable = l.tip
	l.head.first = max(l.head.first, 1)
	l.first = l.head.first
	if err := l.headFile.allocate(); err != nil {
		return err
	}
	if err := l.seal(false); err != nil {
		return err
	}
	// The head is durable before the first segment exists: a log without a head has lost it.
	if err := l.dir.Sync(); err != nil {
		return l.die(err)
	}
	return l.collect()
}

// continueSegment opens the last segment for writing. What follows its last entry is cut off if it is
// torn. Entries that the head does not name as durable may be in the memory of the system only. They
// are written again before they are synced: if a sync failed in an earlier process, the system does
// not write them otherwise.
func (l *Log) continueSegment(end tail) error {
	s := end.segment
	f, err := l.dir.Edit(s.name())
	if err != nil {
		return err
	}
	a := &active{segment: s, file: f, end: end.end}
	l.active = a
	if end.torn != "" {
		if err := clean(a); err != nil {
			return err
		}
	}
	if err := rewrite(f, end.fresh, end.end); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return l.die(err)
	}
	return nil
}

// rewrite writes a part of a file again.
func rewrite(f disk.File, from, to int64) error {
	b := make([]byte, min(windowBytes, max(to-from, 0)))
	for from < to {
		n := min(to-from, int64(len(b)))
		if _, err := f.ReadAt(b[:n], from); err != nil {
			return err
		}
		if _, err := f.WriteAt(b[:n], from); err != nil {
			return err
		}
		from += n
	}
	return nil
}

package oplog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
)

// chain is the log over a medium: numbers, links, sums and marks.
type chain struct {
	medium  Medium
	options Options
	torn    string

	// writing is held while batches are changed.
	writing sync.Mutex
	frame   []byte // the memory of frames; guarded by writing
	unsure  bool   // whether the medium kept the last Append isn't known; guarded by writing
	unsaid  bool   // it did, but Append didn't say so; guarded by writing

	// marking is held while the head is changed and written.
	marking sync.Mutex
	head    head

	// now guards what questions look at.
	now    sync.Mutex
	first  uint64 // number of the first batch there is
	last   uint64 // number of the last batch that is, or should be, there
	tip    link   // the last batch that is there: what the next one names
	next   uint64 // number of the next batch; changed only with writing held
	lost   error  // the end of the log is gone: why nothing is appended until somebody read over that
	closed bool
	failed [rows]error // why the last change of a row failed, until one succeeds
}

var errClosed = errors.New("the log is closed")

// Options say how a log is opened.
type Options struct {
	// Check opens a log only to read it: what would change it fails with ErrCheck, and
	// nothing is cut. (JetStream itself still puts its files in order.)
	Check bool
	// Log is where the store below says what it does; nil: nowhere.
	Log *slog.Logger
	// MaxBytes is how much of the disk the log may take, all in all; 0: no limit of its own.
	MaxBytes uint64
}

// On opens the log that a medium keeps, which is closed with it. On an error the medium is
// left open. Of the options it looks at Check.
func On(ctx context.Context, m Medium, o Options) (Log, error) {
	l := &chain{medium: m, options: o, torn: m.Torn()}
	noHead := false
	switch h, err := readHead(m.Marks()); {
	case err == nil:
		l.head = h
	case errors.Is(err, errNoHead):
		noHead = true
	default:
		return nil, err
	}
	var used [rows]uint64
	for r := range rows {
		first, last, err := m.Bounds(ctx, r)
		if err != nil {
			return nil, err
		}
		used[r] = last
		if r == Batches && noHead {
			l.head.first = first
		}
	}
	if noHead && used == [rows]uint64{} {
		// The marks are on the disk before anything that they tell of.
		noHead = false
		if !o.Check {
			if err := l.mark(true, func(*head) {}); err != nil {
				return nil, err
			}
		}
	}
	l.first = l.head.first
	if err := l.findEnd(ctx, used[Batches]); err != nil {
		return nil, err
	}
	if noHead {
		l.head.batch = l.tip
	}
	if noHead && l.lost == nil {
		l.lost = fmt.Errorf("%w: %w, so that batches after %d may have been there: %s", ErrHole, errNoHead, l.last, wayOn)
	}
	return l, nil
}

// findEnd looks for the last batch of a row of which used numbers are used.
func (l *chain) findEnd(ctx context.Context, used uint64) error {
	l.next = max(used, l.head.batch.number, l.head.cut) + 1
	n := used
	var whole []byte
	var bad error
	for ; n >= l.first && n > 0; n-- {
		b, f, err := l.get(ctx, Batches, n)
		if err == nil && f.kind == kindBatch {
			whole = b
			break
		}
		if err != nil && !errors.Is(err, ErrNotFound) && !errors.Is(err, errFrame) {
			return err
		}
		if bad == nil {
			bad = err
		}
	}
	switch {
	case whole != nil:
		l.tip = linkTo(n, whole)
	case l.head.batch.number < l.first:
		l.tip = l.head.batch // all purged: its hash is kept here
	}
	l.last = max(l.tip.number, l.head.batch.number)
	switch over := max(l.last, l.head.cut); {
	case used == over+1 && bad != nil:
		l.torn = join(l.torn, fmt.Sprintf("batch %d, never acknowledged: %v", used, bad))
		if err := l.cut(ctx, used); err != nil {
			return err
		}
	case used > over:
		l.last = used
	}
	if l.tip.number < l.last {
		l.lost = hole(l.tip.number+1, l.last, "they were kept, and are gone from the end of the log")
	}
	return nil
}

// cut gives up a number after the last batch. One batch at most is under way, and nobody
// was told of that one.
func (l *chain) cut(ctx context.Context, number uint64) error {
	if l.options.Check {
		return nil
	}
	if err := l.mark(true, func(h *head) { h.cut = number }); err != nil {
		return err
	}
	return l.medium.Remove(ctx, Batches, []uint64{number})
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// mark changes the head and writes it.
func (l *chain) mark(sync bool, change func(*head)) error {
	l.marking.Lock()
	change(&l.head)
	l.head.writes++
	err := writeHead(l.medium.Marks(), l.head)
	l.marking.Unlock()
	if err == nil && sync {
		if err = l.medium.Marks().Sync(); err != nil {
			err = fmt.Errorf("sync head: %w", err)
		}
	}
	return err
}

func (l *chain) Append(ctx context.Context, batch []byte) (uint64, error) {
	if len(batch) == 0 || len(batch) > MaxBatch {
		return 0, fmt.Errorf("oplog: a batch of %d bytes: there are 1 to %d", len(batch), MaxBatch)
	}
	l.writing.Lock()
	defer l.writing.Unlock()
	number, err := l.append(ctx, batch)
	return number, l.outcome(Batches, err, "append")
}

// outcome remembers how a change of a row ended, for Health.
func (l *chain) outcome(r Row, err error, what string) error {
	l.now.Lock()
	defer l.now.Unlock()
	if !l.refused(err) {
		l.failed[r] = err
	}
	if err != nil {
		return fmt.Errorf("oplog: %s: %w", what, err)
	}
	return nil
}

func (l *chain) append(ctx context.Context, batch []byte) (uint64, error) {
	if err := l.ready(); err != nil {
		return 0, err
	}
	var err error
	for range 3 { // the store below may finish what it had given up
		if l.unsure || l.unsaid {
			found, err := l.catchUp(ctx, batch)
			if err != nil {
				return 0, err
			}
			if found {
				return l.say()
			}
		}
		if err := l.fill(ctx, Batches, l.next); err != nil {
			return 0, err
		}
		l.frame = appendFrame(l.frame[:0], frame{kind: kindBatch, number: l.next, before: l.tip, data: batch})
		err = l.medium.Append(ctx, Batches, l.next, l.frame)
		if err == nil {
			l.kept(linkTo(l.next, l.frame))
			return l.say()
		}
		l.unsure = true
		if !errors.Is(err, ErrNumber) {
			break
		}
	}
	return 0, err
}

// say marks the last batch and returns its number.
func (l *chain) say() (uint64, error) {
	l.unsaid = true
	if err := l.mark(false, func(h *head) { h.batch = l.tip }); err != nil {
		return 0, err
	}
	l.unsaid = false
	return l.tip.number, nil
}

// ready returns why nothing can be changed.
func (l *chain) ready() error {
	l.now.Lock()
	defer l.now.Unlock()
	switch {
	case l.closed:
		return errClosed
	case l.options.Check:
		return ErrCheck
	}
	return l.lost
}

// refused reports whether an error is ready's, not the medium's. Called with now held.
func (l *chain) refused(err error) bool {
	return err != nil && (err == l.lost || errors.Is(err, ErrCheck) || errors.Is(err, errClosed))
}

// kept notes that a batch is in its row.
func (l *chain) kept(t link) {
	l.now.Lock()
	defer l.now.Unlock()
	l.tip, l.last, l.next = t, t.number, t.number+1
}

// catchUp takes note of what the medium kept of an Append whose end wasn't known, and
// reports whether that was this batch.
func (l *chain) catchUp(ctx context.Context, batch []byte) (found bool, err error) {
	if l.unsaid {
		_, f, err := l.get(ctx, Batches, l.tip.number)
		if err != nil {
			return false, err
		}
		found = bytes.Equal(f.data, batch)
	}
	_, used, err := l.medium.Bounds(ctx, Batches)
	if err != nil {
		return false, err
	}
	for n := l.next; n <= used; n++ {
		whole, f, err := l.get(ctx, Batches, n)
		switch {
		case err == nil && f.before == l.tip:
			l.kept(linkTo(n, whole))
			found = bytes.Equal(f.data, batch)
		case err == nil:
			return false, fmt.Errorf("%w: batch %d isn't of this process", ErrHole, n)
		case n == used && (errors.Is(err, ErrNotFound) || errors.Is(err, errFrame)):
			if err := l.cut(ctx, n); err != nil {
				return false, err
			}
			l.now.Lock()
			l.next = n + 1
			l.now.Unlock()
		default:
			return false, err
		}
	}
	l.unsure, l.unsaid = false, false
	return found, nil
}

// get returns a message, and the frame that it is. The error wraps ErrNotFound or errFrame.
func (l *chain) get(ctx context.Context, r Row, number uint64) ([]byte, frame, error) {
	whole, err := l.medium.Get(ctx, r, number)
	if err != nil {
		return nil, frame{}, err
	}
	f, err := parseFrame(whole, r.kind(), number)
	return whole, f, err
}

// fill uses up the numbers of a row before next, those of messages that it lost at its end,
// so that they are never given to others.
func (l *chain) fill(ctx context.Context, r Row, next uint64) error {
	first, used, err := l.medium.Bounds(ctx, r)
	switch {
	case err != nil:
		return err
	case used+1 >= next:
		return nil
	case first > used:
		return l.medium.Purge(ctx, r, next)
	}
	for n := used + 1; n < next; n++ {
		void := appendFrame(nil, frame{kind: kindVoid, number: n})
		if err := l.medium.Append(ctx, r, n, void); err != nil && !errors.Is(err, ErrNumber) {
			return err
		}
	}
	return nil
}

func (l *chain) Bounds() (first, last uint64) {
	l.now.Lock()
	defer l.now.Unlock()
	return l.first, l.last
}

func (l *chain) Purge(ctx context.Context, before uint64) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	return l.outcome(Batches, l.purge(ctx, before), "purge")
}

func (l *chain) purge(ctx context.Context, before uint64) error {
	if err := l.ready(); err != nil {
		return err
	}
	if before > l.next {
		return fmt.Errorf("batches before %d: the next one is %d", before, l.next)
	}
	if before <= l.first {
		return nil
	}
	// The hash of the last batch may be nowhere else from now on, and what is missing before
	// that number isn't lost.
	l.now.Lock()
	l.first = before
	l.now.Unlock()
	if err := l.mark(true, func(h *head) { h.first = before }); err != nil {
		return err
	}
	return l.medium.Purge(ctx, Batches, before)
}

func (l *chain) Torn() string { return l.torn }

func (l *chain) Health() error {
	l.now.Lock()
	failed := errors.Join(l.failed[:]...)
	switch {
	case l.closed:
		failed = errClosed
	case l.lost != nil:
		failed = l.lost
	}
	l.now.Unlock()
	if failed != nil {
		return failed
	}
	return l.medium.Health()
}

func (l *chain) Bytes() uint64 { return l.medium.Bytes() }

func (l *chain) Close() error {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.now.Lock()
	closed := l.closed
	l.closed = true
	l.now.Unlock()
	if closed {
		return nil
	}
	return errors.Join(l.medium.Marks().Sync(), l.medium.Close())
}

package oplog

import (
	"context"
	"errors"
	"fmt"
)

func (l *chain) Read(ctx context.Context, from uint64, each func(uint64, []byte) error) error {
	return l.read(ctx, from, each, func(_, _ uint64, why error) error { return why })
}

func (l *chain) ReadOver(ctx context.Context, from uint64, each func(uint64, []byte) error, lost func(first, last uint64, why error) error) error {
	return l.read(ctx, from, each, lost)
}

// wayOn ends the errors of holes.
const wayOn = "restore a backup, or accept the loss to go on without them"

// hole is the error of batches that are gone.
func hole(first, last uint64, why string) error {
	if first == last {
		return fmt.Errorf("%w: batch %d: %s: %s", ErrHole, first, why, wayOn)
	}
	return fmt.Errorf("%w: batches %d to %d: %s: %s", ErrHole, first, last, why, wayOn)
}

// read calls each with the batches from that number on and lost with holes. When it ends
// well, the end of the log is as good as it can be, and appending may go on.
func (l *chain) read(ctx context.Context, from uint64, each func(uint64, []byte) error, lost func(first, last uint64, why error) error) error {
	from = max(from, 1)
	l.now.Lock()
	first, last, atEnd, closed := l.first, l.last, l.lost, l.closed
	l.now.Unlock()
	if closed {
		return errClosed
	}
	switch {
	case from < first:
		if err := lost(from, first-1, hole(from, first-1, fmt.Sprintf("they aren't kept any more: the log begins with %d", first))); err != nil {
			return err
		}
		from = first
	case from > last+1:
		if err := lost(last+1, from-1, hole(last+1, from-1, fmt.Sprintf("the log ends with %d", last))); err != nil {
			return err
		}
		l.goOnAt(from)
		return nil
	}
	r := reader{next: from, each: each, lost: lost}
	if err := l.medium.Scan(ctx, Batches, from, last, r.message); err != nil {
		return err
	}
	if r.next <= last && r.good.number < last {
		why := hole(r.next, last, r.reason("they are gone from the end of the log"))
		if err := lost(r.next, last, why); err != nil {
			return err
		}
	} else if errors.Is(atEnd, errNoHead) {
		if err := lost(last+1, last, atEnd); err != nil {
			return err
		}
	}
	l.goOnAt(last + 1)
	return nil
}

// goOnAt lets batches be appended from that number on, or a later one.
func (l *chain) goOnAt(number uint64) {
	l.now.Lock()
	defer l.now.Unlock()
	l.lost = nil
	if number > l.next {
		l.next, l.last = number, number-1
	}
}

// reader checks batches as they come.
type reader struct {
	next uint64 // number that should come
	good link   // the last batch that was right
	bad  error  // of the first message since that wasn't
	each func(uint64, []byte) error
	lost func(first, last uint64, why error) error
}

func (r *reader) reason(otherwise string) string {
	if r.bad != nil {
		return r.bad.Error()
	}
	return otherwise
}

func (r *reader) message(number uint64, whole []byte) error {
	f, err := parseFrame(whole, kindBatch, number)
	if err != nil {
		// Whether it was to be there is known from the next one that is right.
		if r.bad == nil {
			r.bad = err
		}
		return nil
	}
	if f.kind == kindVoid {
		return nil
	}
	if err := r.check(f); err != nil {
		return err
	}
	r.good, r.bad, r.next = linkTo(number, whole), nil, number+1
	return r.each(number, f.data)
}

// check tells of the hole before a frame, if there is one.
func (r *reader) check(f frame) error {
	switch {
	case f.before == r.good && r.good.number != 0:
		return nil
	case f.before.number < r.next && r.good.number == 0:
		// The first to be read: what it names isn't asked for. Numbers between are no batches.
		return nil
	case f.before.number == r.good.number && r.good.number != 0:
		return r.lost(r.good.number, r.good.number, hole(r.good.number, r.good.number, fmt.Sprintf("it is another than the one that batch %d came after", f.number)))
	case f.number == r.next:
		return r.lost(f.number, f.number, hole(f.number, f.number, fmt.Sprintf("it says that it comes after %d", f.before.number)))
	}
	return r.lost(r.next, f.number-1, hole(r.next, f.number-1, r.reason("they were kept, and are gone from the middle of the log")))
}

package sharedlog

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/umbel-filters/umbel/internal/pause"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Follow calls each with all entries after Position, in order, and waits for new ones. It ends with
//
//   - ErrSilent if no entry has arrived for a random time of 1 to 1.5 times the silence of the group, during
//     which the medium worked, or at once after a Leave. Then the caller may call Claim, or Follow again.
//   - an error that wraps ErrHole, ErrRegressed, ErrFork, ErrDamaged, ErrVersion or ErrOtherGroup if the next entry
//     cannot be read, and will not be. After ErrHole or ErrDamaged, a snapshot of the group that contains the entry helps.
//   - the error of each, or of ctx. The position is then before the entry with which each was called.
//
// It goes on after errors of the medium. Data and Scope of an Entry belong to each.
func (l *Log) Follow(ctx context.Context, each func(Entry) error) error {
	quiet, ahead, arrived, checked := l.o.clock(), 1, false, false
	limit := l.o.Silence + jitter(l.o.Silence/2)
	for try := 0; ; {
		began := time.Now()
		n, end, err := l.advance(ctx, try, ahead, each)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil && !isTrouble(err):
			return err
		case err != nil:
			l.note(err)
			quiet, ahead = l.o.clock(), 1
			if err := again(ctx, try); err != nil {
				return err
			}
			try++
			continue
		}
		try = 0
		if n > 0 {
			l.note(nil)
			quiet, arrived = l.o.clock(), true
		}
		if !end {
			ahead = min(2*ahead, window)
			continue
		}
		ahead = 1
		now := l.o.clock()
		if silent := l.left && arrived || now.least(quiet) >= limit; silent || !checked {
			switch err := l.check(ctx); {
			case err == nil:
				l.note(nil)
				l.setCurrent(began)
				if silent {
					return ErrSilent
				}
				checked = true
			case !isTrouble(err):
				return err
			default:
				l.note(err)
				quiet = now
			}
		} else if now.least(quiet) < l.o.Silence/2 {
			// A leader puts an entry more often. Without one, a medium that returns nothing may have lost everything.
			l.setCurrent(began)
		}
		if !pause.For(ctx, l.o.Poll/2+jitter(l.o.Poll)) {
			return context.Cause(ctx)
		}
	}
}

func (l *Log) setCurrent(t time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.current = t
}

// trouble is an error of the medium, after which an operation may be tried again.
type trouble struct{ error }

func (t trouble) Unwrap() error { return t.error }

func isTrouble(err error) bool {
	var t trouble
	return errors.As(err, &t)
}

// inTrouble returns err as trouble if it is an error of the medium.
func inTrouble(err error) error {
	for _, own := range []error{ErrNone, ErrHole, ErrDamaged, ErrVersion} {
		if errors.Is(err, own) {
			return err
		}
	}
	return trouble{err}
}

// read is an entry that was read, or why it was not.
type read struct {
	frame frame
	after Position
	err   error
}

// advance reads up to n entries at the same time, calls each with those that follow Position without a gap, and
// returns their number, and whether there was no entry after them.
func (l *Log) advance(ctx context.Context, try, n int, each func(Entry) error) (taken int, end bool, err error) {
	first := l.Position().next()
	all := make([]read, n)
	var reads sync.WaitGroup
	for i := range all {
		reads.Go(func() { all[i].frame, all[i].after, all[i].err = l.get(ctx, try, first+uint64(i)) })
	}
	reads.Wait()
	for i, r := range all {
		at, number := l.Position(), first+uint64(i)
		if at.next() != number {
			return i, false, nil // after a claim, what follows it at once is void
		} else if errors.Is(r.err, ErrNone) {
			return i, true, nil
		} else if r.err != nil {
			return i, false, fmt.Errorf("entry %d: %w", number, inTrouble(r.err))
		}
		if err := l.follows(ctx, at, &r.frame); err != nil {
			return i, false, fmt.Errorf("entry %d: %w", number, err)
		}
		if err := l.take(r, each); err != nil {
			return i, false, err
		}
	}
	return n, false, nil
}

// follows is at.follow. If the medium has the entry of at, and still another one does not follow it, that entry is a
// claim that was put late, under a number that had been trimmed: see Trim.
func (l *Log) follows(ctx context.Context, at Position, f *frame) error {
	err := at.follow(f)
	if !errors.Is(err, ErrFork) {
		return err
	}
	_, there, readErr := l.get(ctx, longest, at.Number)
	if readErr == nil && there == at {
		return sentinel.Errorf(ErrHole, "it follows an entry that was trimmed after a snapshot, instead of which there is a late claim")
	} else if readErr != nil && !errors.Is(readErr, ErrNone) {
		return inTrouble(readErr)
	}
	return err
}

// take calls each with an entry, and continues after it.
func (l *Log) take(r read, each func(Entry) error) error {
	if err := each(Entry{r.frame.kind, r.frame.data, r.frame.scope, r.frame.writer, r.after}); err != nil {
		return err
	}
	l.seen, l.left = l.o.clock(), r.frame.kind == Leave
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at = r.after
	if r.frame.kind == Claim {
		l.leader = r.frame.data
	}
	return nil
}

// check returns an error if the log, which seems to end at Position, does not: it has later entries, or no longer the
// last one that was read. It looks twice, since a stream that has just changed its leader may return what was.
func (l *Log) check(ctx context.Context) error {
	err := l.look(ctx)
	if err == nil || isTrouble(err) {
		return err
	}
	if !pause.For(ctx, l.o.Silence/2) {
		return trouble{context.Cause(ctx)}
	}
	return l.look(ctx)
}

// restored ends the errors of a medium that has an older state than this node.
const restored = "the medium lost entries, or an old copy was restored"

func (l *Log) look(ctx context.Context) error {
	at := l.Position()
	all, err := l.numbers(ctx)
	if err != nil {
		return trouble{err}
	}
	next := at.next()
	// Entries up to next+window-1 may be in flight, or were when a leader lost the log.
	if last := last(all); last >= next+window {
		if _, _, err := l.get(ctx, longest, next); errors.Is(err, ErrNone) {
			return l.hole(ctx, at, all)
		}
		return nil
	}
	switch _, there, err := l.get(ctx, longest, at.Number); {
	case errors.Is(err, ErrNone):
		return sentinel.Errorf(ErrRegressed, "entry %d, which this node has, is missing, and the last one is %d: %s",
			at.Number, last(all), restored)
	case err != nil:
		return inTrouble(err)
	case there != at:
		return sentinel.Errorf(ErrFork, "entry %d has hash %x, and this node has %x: %s", at.Number, there.Hash, at.Hash, restored)
	}
	return nil
}

// hole returns ErrHole, since the entry after a position is missing and later ones exist, or ErrFork if these do not
// descend from the position: if the next epoch began before it. Claims are never deleted, so this can be seen.
func (l *Log) hole(ctx context.Context, at Position, all []uint64) error {
	var latest Position // among the last entries, the others of which may be void
	for _, n := range all[max(0, len(all)-window):] {
		_, after, err := l.get(ctx, longest, n)
		if err != nil && isTrouble(inTrouble(err)) {
			return trouble{err}
		}
		if err == nil && after.Epoch > latest.Epoch {
			latest = after
		}
	}
	for n, epoch := latest.Claim, latest.Epoch; epoch > at.Epoch; epoch-- {
		f, err := l.claim(ctx, n)
		if err != nil {
			return inTrouble(err)
		}
		if epoch == at.Epoch+1 && n <= at.Number {
			return sentinel.Errorf(ErrFork, "epoch %d begins with entry %d, and this node has entry %d of the epoch before: %s",
				epoch, n, at.Number, restored)
		}
		n = f.claim
	}
	return sentinel.Errorf(ErrHole, "entry %d is missing, and entry %d exists: it was trimmed after a snapshot, or lost",
		at.next(), last(all))
}

// last returns the last of sorted numbers, 0 if there is none.
func last(all []uint64) uint64 {
	if len(all) == 0 {
		return 0
	}
	return all[len(all)-1]
}

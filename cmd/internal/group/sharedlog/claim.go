package sharedlog

import (
	"context"
	"errors"

	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Claim puts a claim after Position, and returns the leader that this process then is. The caller has applied all
// entries up to Position. After an error it calls Follow again.
//
// It may be called at any time. If the leader before may still hold a lease, because Follow did not end with
// ErrSilent, the first Commit waits until the lease is over.
//
// The error wraps ErrLost if another process has put an entry, one of the errors of Follow if the log does not end at
// Position, or it is one of the medium.
func (l *Log) Claim(ctx context.Context) (*Leader, error) {
	at := l.Position()
	if err := l.check(ctx); err != nil {
		return nil, err
	}
	f := frame{
		kind: Claim, group: at.Group, writer: l.writer, number: at.next(), epoch: at.Epoch + 1, index: at.Index, claim: at.Claim,
		chain: at.Hash, data: l.o.Claim,
	}
	encoded := f.append(nil)
	began := l.o.clock()
	if err := l.put(ctx, &f, encoded, func(error) {}); err != nil {
		return nil, err
	}
	// If entries after Position were trimmed, the medium has taken the claim although it is far behind: see Trim.
	var all []uint64
	for try := 0; ; try++ {
		var err error
		if all, err = l.numbers(ctx); err == nil {
			break
		}
		l.note(err)
		if err := again(ctx, try); err != nil {
			return nil, err
		}
	}
	after := f.position(encoded)
	if last := last(all); last >= after.next() {
		return nil, sentinel.Errorf(ErrLost, "entry %d exists, and the claim is entry %d", last, f.number)
	}
	var free instant // when the lease of the leader before is over
	if at.Claim != 0 && !l.left {
		free = l.seen
		free.steady += l.o.Silence
	}
	return newLeader(l, after, began, free), nil
}

// claim reads a claim, which is never deleted. The error wraps ErrHole if it is missing.
func (l *Log) claim(ctx context.Context, number uint64) (frame, error) {
	f, _, err := l.get(ctx, longest, number)
	if errors.Is(err, ErrNone) {
		err = sentinel.Errorf(ErrHole, "claim %d is missing", number)
	}
	return f, err
}

// claims returns the numbers of all claims up to a position: each names the one before.
func (l *Log) claims(ctx context.Context, at Position) (all map[uint64]bool, err error) {
	all = make(map[uint64]bool)
	for n := at.Claim; n != 0; {
		f, err := l.claim(ctx, n)
		if err != nil {
			return nil, err
		}
		all[n] = true
		n = f.claim
	}
	return all, nil
}

package member

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/store"
	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog"
	"github.com/umbel-filters/umbel/internal/event"
	"github.com/umbel-filters/umbel/internal/pause"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/zeebo/xxh3"
)

// Run follows and leads until ctx is done, and then returns nil. s is the store, which has the own log and follows. An error
// that wraps ErrAgain means that the node has to be started again; Run does not end with another one: it notes the problem and
// waits.
func (m *Member) Run(ctx context.Context, s *store.Store) error {
	m.store = s
	if l := m.shared.Load(); l != nil {
		m.setLeader(l.Leader())
	}
	for ctx.Err() == nil {
		err := m.step(ctx)
		switch {
		case ctx.Err() != nil:
		case errors.Is(err, ErrAgain):
			return err
		case err != nil && isFinal(err):
			m.problem.Store(&err)
			m.o.Log.Error("this node cannot follow its group; it answers from what it has", event.GroupProblem, "error", err)
			<-ctx.Done()
		case err != nil:
			m.o.Log.Warn("following the group is interrupted; will retry", event.GroupTrouble, "error", err)
			pause.For(ctx, retry)
		}
	}
	return nil
}

// retry is the time between attempts that failed because of the medium or the own disk.
const retry = time.Second / 2

// errHurry makes Follow end because this node is to lead.
var errHurry = errors.New("take over")

// step follows until something happens, and acts on it.
func (m *Member) step(ctx context.Context) error {
	l := m.shared.Load()
	if l == nil {
		p, err := readPlace(m.o.Data)
		if err != nil {
			return err
		}
		if err := m.open(ctx, p.at); err != nil {
			return m.rewindAfter(ctx, err)
		}
		return nil
	}
	following, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	m.hurry.Store(&stop)
	if m.takesOver() {
		defer time.AfterFunc(takeOverRetry, func() { stop(errHurry) }).Stop()
	}
	err := l.Follow(following, m.take)
	m.hurry.Store(nil)
	switch {
	case errors.Is(err, errHurry):
	case errors.Is(err, sharedlog.ErrHole):
		return m.reset(ctx, err)
	case !errors.Is(err, sharedlog.ErrSilent):
		return m.rewindAfter(ctx, err)
	}
	if m.store.Status().Err != nil {
		return nil // this node cannot write; another one may
	}
	if m.left && l.Position().Claim != 0 && !m.takesOver() {
		pause.For(ctx, courtesy)
	}
	d, err := l.Claim(ctx)
	if errors.Is(err, sharedlog.ErrLost) {
		return nil
	}
	if err != nil {
		return err
	}
	m.follow(Address{}) // until this node leads, which waits for the end of the lease of the one before
	return m.lead(ctx, d)
}

// take takes an entry of the shared log.
func (m *Member) take(e sharedlog.Entry) error {
	switch e.Kind {
	case sharedlog.Claim:
		m.setLeader(e.Data)
	case sharedlog.Leave:
		m.setLeader(nil)
	case sharedlog.Batch:
		index := e.Position.Index
		if index >= m.o.Own.Next() {
			if err := m.store.Follow(context.Background(), index, e.Data, e.Scope); err != nil {
				return fmt.Errorf("batch %d: %w", index, err)
			}
			return nil
		}
		if h, ok := m.own[index]; ok && h != xxh3.Hash(e.Data) {
			return sentinel.Errorf(sharedlog.ErrFork, "batch %d of the log of the group is not the one that this node has: "+
				"its medium lost entries, and others were put since; "+
				"start this node with an empty data directory to follow the group as it is now", index)
		}
		delete(m.own, index)
	}
	return nil
}

// reset makes the node begin with a snapshot of the group, because the log has been trimmed too far for it.
func (m *Member) reset(ctx context.Context, why error) error {
	found, err := lastManifests(ctx, m.o.Medium)
	if err != nil || len(found) == 0 || found[0].reach < m.o.Own.Next() {
		return why
	}
	if err := Reset(m.o.Data); err != nil {
		return err
	}
	return fmt.Errorf("%w, with the snapshot of the group: %w", ErrAgain, why)
}

// rewindAfter returns why, unless it says that the medium has lost entries that this node has. Then it begins to read the
// shared log again, to compare it with the own log; what is missing is put again if this node leads.
func (m *Member) rewindAfter(ctx context.Context, why error) error {
	if m.rewound || !errors.Is(why, sharedlog.ErrRegressed) && !errors.Is(why, sharedlog.ErrFork) && !errors.Is(why, sharedlog.ErrNone) {
		return why
	}
	m.o.Log.Error("the log of the group has lost entries; comparing it with the log of this node", event.GroupProblem, "error", why)
	var at sharedlog.Position
	found, err := lastManifests(ctx, m.o.Medium)
	if err != nil {
		return err
	}
	if len(found) > 0 {
		at = found[0].at
	}
	if err := m.expect(ctx, at.Index+1); err != nil {
		return err
	}
	if err := m.open(ctx, at); err != nil {
		return err
	}
	m.rewound = true
	return nil
}

// isFinal reports whether an error of a shared log is not one of its medium.
func isFinal(err error) bool {
	for _, e := range []error{sharedlog.ErrHole, sharedlog.ErrRegressed, sharedlog.ErrFork, sharedlog.ErrDamaged, sharedlog.ErrVersion,
		sharedlog.ErrOtherGroup, sharedlog.ErrUnfit, store.ErrLost, umbel.ErrCorrupt} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// TakeOver makes this node try for some seconds to claim the log, although another one leads: it succeeds if that one has
// nothing to write, or when it leaves, because the others then wait. It returns an error if this node leads, or cannot follow.
func (m *Member) TakeOver() error {
	stop := m.hurry.Load()
	if stop == nil {
		return errors.New("this node does not follow another one now")
	}
	m.wanted.Store(time.Now().Add(takeOverTime).UnixNano())
	(*stop)(errHurry)
	return nil
}

// takesOver reports whether this node tries to lead although another one does.
func (m *Member) takesOver() bool { return time.Now().UnixNano() < m.wanted.Load() }

const (
	// takeOverTime is the time for which TakeOver tries, and takeOverRetry that between attempts.
	takeOverTime, takeOverRetry = 10 * time.Second, 300 * time.Millisecond
	// courtesy is the time for which a member does not claim after the leader has left, so that one that takes over is first.
	courtesy = 400 * time.Millisecond
)

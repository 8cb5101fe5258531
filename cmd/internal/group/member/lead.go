package member

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/durable/wal"
	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog"
	"github.com/umbel-filters/umbel/internal/event"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// lead leads until another member does, or ctx is done.
func (m *Member) lead(ctx context.Context, d *sharedlog.Leader) error {
	l := &leaderLog{leader: d, own: m.o.Own}
	claim := d.Committed()
	err := m.putAgain(ctx, d)
	if err == nil {
		_, err = d.Commit(ctx) // and wait for the end of another's lease
	}
	if err != nil {
		d.Close()
		return err
	}
	m.leader.Store(d)
	m.store.Lead(l)
	m.announce(m.o.Address)
	m.o.Log.Info("this node leads its group", event.GroupLeads, "epoch", claim.Epoch, "batch", claim.Index)
	if m.o.Led != nil {
		m.o.Led()
	}
	snapshots := &snapshots{member: m, leader: d, claim: claim}
	tick := time.NewTicker(snapshotLook)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil // Close leaves
		case <-d.Lost():
			m.announce(Address{})
			m.o.Log.Warn("this node leads its group no longer", event.GroupDeposed, "error", d.Err())
			return fmt.Errorf("%w: %w", ErrAgain, d.Err())
		case <-tick.C:
			snapshots.take(ctx)
		}
	}
}

// putAgain puts the batches of the own log that the shared log has lost. They have the same numbers and bytes as before, so other members find
// what they have.
func (m *Member) putAgain(ctx context.Context, d *sharedlog.Leader) error {
	from := d.Committed().Index + 1
	first, last := m.o.Own.Bounds()
	if last = max(last, m.o.Own.Next()-1); from > last {
		return nil
	}
	if from < first {
		return sentinel.Errorf(sharedlog.ErrRegressed, "the log of the group has lost batches %d to %d, and this node has only those from %d on", from, last, first)
	}
	m.o.Log.Error("the log of the group has lost batches that this node has; putting them again", event.GroupProblem, "first", from, "last", last)
	if _, err := m.o.Own.Commit(ctx); err != nil {
		return err
	}
	return m.o.Own.Read(ctx, from, func(number uint64, b []byte) error {
		got, err := d.Propose(ctx, b, nil)
		if err == nil && got != number {
			err = fmt.Errorf("batch %d became batch %d", number, got)
		}
		return err
	})
}

// leaderLog is the log of a leader's journal. A batch counts when the shared log has it; then it is written to the own log, without a sync.
type leaderLog struct {
	leader *sharedlog.Leader
	own    *wal.Log

	mu      sync.Mutex
	flight  []batch // proposed, and not written to the own log
	writing sync.Mutex
}

type batch struct {
	number      uint64
	data, scope []byte
}

// Propose is that of journal.Log.
func (l *leaderLog) Propose(ctx context.Context, data, scope []byte) (uint64, error) {
	n, err := l.leader.Propose(ctx, data, scope)
	if err != nil {
		return 0, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flight = append(l.flight, batch{n, data, scope}) // the journal changes neither before they are committed
	return n, nil
}

// Commit is that of journal.Log.
func (l *leaderLog) Commit(ctx context.Context) (uint64, error) {
	n, err := l.leader.Commit(ctx)
	if err != nil {
		return 0, err
	}
	l.writing.Lock()
	defer l.writing.Unlock()
	for {
		l.mu.Lock()
		var b batch
		if len(l.flight) > 0 && l.flight[0].number <= n {
			b = l.flight[0]
		}
		l.mu.Unlock()
		if b.number == 0 {
			return n, nil
		}
		if next := l.own.Next(); next != b.number {
			return 0, fmt.Errorf("batch %d of the group would be batch %d of this node", b.number, next)
		}
		if _, err := l.own.Propose(ctx, b.data, b.scope); err != nil {
			return 0, err
		}
		l.mu.Lock()
		l.flight = l.flight[1:]
		l.mu.Unlock()
	}
}

// Snapshot is the last snapshot of a group that this process took.
type Snapshot struct {
	Taken      time.Time
	Filters    uint64
	Bytes, Put uint64 // of the filters; of pieces that the medium did not have
	Took       time.Duration
	Err        error
	manifest   *manifest
}

const (
	// snapshotLook is the time between looks whether a snapshot of the group is due.
	snapshotLook = 5 * time.Second
	// dueEntries is the number of entries after which one is due: a group that is idle has them in about half an hour.
	dueEntries = 4096
	// defaultGrowth is the default of Options.Growth.
	defaultGrowth = 256 << 20
	// snapshotRetry is the time before one that failed is taken again.
	snapshotRetry = time.Minute
)

// snapshots takes the snapshots of a group while this node leads.
type snapshots struct {
	member   *Member
	leader   *sharedlog.Leader
	claim    sharedlog.Position
	found    bool
	last     []*manifest // the last two, the newest first
	written  uint64      // bytes of batches when the last was taken
	failed   time.Time
	obsolete map[string]bool
}

// take takes a snapshot if one is due.
func (s *snapshots) take(ctx context.Context) {
	if time.Since(s.failed) < snapshotRetry {
		return
	}
	began := time.Now()
	done, err := s.takeDue(ctx)
	switch {
	case err != nil && ctx.Err() == nil:
		s.failed = time.Now()
		s.member.o.Log.Error("snapshot of the group failed; its log is not trimmed", event.SnapshotFailed, "error", err)
		s.member.last.Store(&Snapshot{Taken: began, Took: time.Since(began), Err: err})
	case done:
		m := s.last[0]
		s.member.o.Log.Info("snapshot of the group taken", event.Snapshot, "filters", m.snapshot.Filters, "bytes", m.put, "took", time.Since(began))
		s.member.last.Store(&Snapshot{Taken: began, Took: time.Since(began), Filters: m.snapshot.Filters, Bytes: m.snapshot.Bytes, Put: m.put, manifest: m})
	}
}

func (s *snapshots) takeDue(ctx context.Context) (done bool, err error) {
	o := &s.member.o
	if !s.found {
		if s.last, err = lastManifests(ctx, o.Medium); err != nil {
			return false, err
		}
		s.found = true
	}
	since := uint64(0)
	if len(s.last) > 0 {
		since = s.last[0].at.Number
	}
	written := s.member.store.Status().CommitBytes
	if s.leader.Committed().Number-since < dueEntries && written-s.written < o.Growth {
		return false, nil
	}
	if err := s.member.store.Snapshot(ctx); err != nil {
		return false, err
	}
	m, err := s.upload(ctx)
	if err != nil {
		return false, err
	}
	s.written = written
	s.last = append([]*manifest{m}, s.last[:min(1, len(s.last))]...)
	// The entries that the snapshot before needs stay, and so a member may be away from one snapshot to the one after the next.
	if len(s.last) > 1 {
		if err := s.leader.Trim(ctx, s.last[1].at.Number+1); err != nil {
			return true, err
		}
	}
	s.obsolete, err = tidy(ctx, o.Medium, s.last, s.obsolete, s.leader.Err)
	return true, err
}

// upload puts the last snapshot of this node.
func (s *snapshots) upload(ctx context.Context) (*manifest, error) {
	own, release, err := s.member.store.LastSnapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	if own == nil {
		return nil, errors.New("this node has no snapshot")
	}
	at := s.claim
	if before := own.Batch - 1; before > at.Index {
		if at, err = s.leader.Position(before); err != nil {
			return nil, err
		}
	} else if before < at.Index {
		return nil, errors.New("the snapshot of this node is from before it led")
	}
	return upload(ctx, s.member.o.Medium, s.member.o.Files, own, at, s.leader.Committed().Index)
}

package member

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog"
	"github.com/umbel-filters/umbel/internal/event"
	"github.com/zeebo/xxh3"
)

// Prepare removes the log and the snapshots of a data directory that is to begin with a snapshot of the group. It is called before they
// are opened.
func Prepare(data string, dirs ...string) error {
	if _, err := os.Stat(fetchDir(data)); err != nil {
		return nil
	}
	if _, err := os.Stat(placeFile(data)); err == nil {
		return os.RemoveAll(fetchDir(data))
	}
	for _, d := range dirs {
		if err := os.RemoveAll(d); err != nil {
			return err
		}
	}
	return nil
}

// Reset makes the next start begin with a snapshot of the group: what the data directory has is not used.
func Reset(data string) error {
	if err := os.MkdirAll(fetchDir(data), 0o700); err != nil {
		return err
	}
	err := os.Remove(placeFile(data))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// Join opens the shared log at the place of the node. A new node gets a snapshot of the group, if there is one. It returns when
// the own log is as long as the own snapshots need.
func Join(ctx context.Context, o Options) (*Member, error) {
	m := &Member{o: o}
	if m.o.Growth == 0 {
		m.o.Growth = defaultGrowth
	}
	p, err := readPlace(o.Data)
	if err != nil {
		return nil, err
	}
	_, last := o.Own.Bounds()
	m.belongs = p != place{}
	if !m.belongs && (last != 0 || o.Files.LastNumber() != 0) {
		return nil, errForeign
	}
	if !m.belongs {
		if p, err = m.begin(ctx); err != nil {
			return nil, err
		}
		m.belongs = true
	} else if err := m.open(ctx, p.at); err != nil {
		if last < p.reach || errors.Is(err, sharedlog.ErrUnfit) || errors.Is(err, sharedlog.ErrOtherGroup) || errors.Is(err, sharedlog.ErrVersion) {
			return nil, err
		}
		o.Log.Warn("the log of the group cannot be read; the node answers from its own data", event.GroupTrouble, "error", err)
	}
	if err := m.expect(ctx, p.at.Index+1); err != nil {
		return nil, err
	}
	return m, m.reach(ctx, p.reach)
}

// begin gives a new node a place.
func (m *Member) begin(ctx context.Context) (p place, err error) {
	if err := os.MkdirAll(fetchDir(m.o.Data), 0o700); err != nil {
		return p, err
	}
	found, err := lastManifests(ctx, m.o.Medium)
	if err != nil {
		return p, fmt.Errorf("snapshot of the group: %w", err)
	}
	for i, s := range found {
		err = fetch(ctx, m.o.Medium, s, m.o.Data, m.o.Files)
		if err == nil {
			p = place{s.at, s.reach}
			err = m.o.Own.StartAt(ctx, s.snapshot.Batch)
		}
		if err == nil || i+1 == len(found) || !errors.Is(err, umbel.ErrCorrupt) || m.o.Files.LastNumber() != 0 {
			break
		}
		m.o.Log.Warn("the last snapshot of the group is damaged; using the one before", event.DamageRepaired, "error", err)
	}
	if err == nil {
		err = m.open(ctx, p.at)
	}
	if err != nil {
		return p, err
	}
	p.at = m.shared.Load().Position()
	if err := p.write(m.o.Data); err != nil {
		return p, err
	}
	return p, os.RemoveAll(fetchDir(m.o.Data))
}

// open opens the shared log.
func (m *Member) open(ctx context.Context, at sharedlog.Position) error {
	claim, err := json.Marshal(m.o.Address)
	if err != nil {
		return err
	}
	l, err := sharedlog.Open(ctx, m.o.Medium, at, sharedlog.Options{
		Settings: m.o.Settings, Silence: m.o.Silence, Exists: m.belongs || at != (sharedlog.Position{}), Claim: claim, Failed: m.failed,
	})
	if err != nil {
		return err
	}
	m.shared.Store(l)
	m.setLeader(l.Leader())
	return nil
}

// expect notes the batches of the own log from an index on, to compare them with those of the shared log.
func (m *Member) expect(ctx context.Context, from uint64) error {
	m.own = map[uint64]uint64{}
	first, last := m.o.Own.Bounds()
	if from = max(from, first); from > last {
		return nil
	}
	return m.o.Own.Read(ctx, from, func(number uint64, b []byte) error {
		m.own[number] = xxh3.Hash(b)
		return nil
	})
}

// reach writes the batches up to an index to the own log.
func (m *Member) reach(ctx context.Context, index uint64) error {
	if m.o.Own.Next() > index {
		return nil
	}
	reading, stop := context.WithCancel(ctx)
	defer stop()
	err := m.shared.Load().Follow(reading, func(e sharedlog.Entry) error {
		if e.Kind == sharedlog.Batch && e.Position.Index >= m.o.Own.Next() {
			if _, err := m.o.Own.Propose(ctx, e.Data, e.Scope); err != nil {
				return err
			}
		}
		if e.Position.Index >= index {
			stop()
		}
		return nil
	})
	if err == nil || reading.Err() != nil && ctx.Err() == nil {
		return nil
	}
	return fmt.Errorf("batches up to %d of the log of the group, which its snapshot needs: %w", index, err)
}

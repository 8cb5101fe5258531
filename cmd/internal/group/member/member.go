package member

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/durable/snapfile"
	"github.com/umbel-filters/umbel/cmd/internal/durable/store"
	"github.com/umbel-filters/umbel/cmd/internal/durable/wal"
	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog"
	"github.com/umbel-filters/umbel/internal/event"
)

var (
	// ErrAgain is wrapped by the error of Run if the node has to start again: it led and leads no longer, or it follows from a snapshot of
	// the group.
	ErrAgain = errors.New("the node starts again as a follower")
	// errForeign means that the data are not those of a member.
	errForeign = errors.New("the data directory has filters of a node without a group: " +
		"start with an empty one, and send the filters to the leader (umbel node get, umbel node put)")
)

// Address is where clients reach a member.
type Address struct {
	RESP string `json:"resp,omitempty"` // host:port
	HTTP string `json:"http,omitempty"` // URL
}

// String returns the address for Redis clients, or else that for others.
func (a Address) String() string {
	if a.RESP != "" {
		return a.RESP
	}
	return a.HTTP
}

// Options configure a member.
type Options struct {
	Medium   sharedlog.Medium
	Data     string        // the data directory
	Own      *wal.Log      // the log in it
	Files    *snapfile.Dir // the snapshots in it
	Settings []byte        // of a group that this node begins
	Silence  time.Duration // likewise; 0: sharedlog.DefaultSilence
	Address  Address       // of this node
	MaxAge   time.Duration // see Fresh; 0: any age
	Growth   uint64        // bytes of batches after which a leader takes a snapshot of the group; 0: defaultGrowth
	Led      func()        // is called when this node begins to lead
	Leader   func(Address) // is called by Join and Run with the node that leads whenever that changes; zero: none, or it is unknown; may be nil
	Log      *slog.Logger
}

// Member is a node's place in a group. Its methods are safe for concurrent use, except Run.
type Member struct {
	o       Options
	store   *store.Store
	shared  atomic.Pointer[sharedlog.Log]
	left    bool              // the last leader has left, and nobody has claimed since
	belongs bool              // the node has been a member: its group has a log
	own     map[uint64]uint64 // XXH3-64 of batches in the own log, by index, that are still to be compared with those of the shared log
	rewound bool              // the shared log is read again: see rewindAfter

	leader  atomic.Pointer[sharedlog.Leader] // not nil if this node leads
	address atomic.Pointer[Address]          // of the leader; nil or zero: unknown
	problem atomic.Pointer[error]            // why this node can neither follow nor lead; nil: it can
	trouble atomic.Pointer[error]            // of the medium; nil: it works
	hurry   atomic.Pointer[context.CancelCauseFunc]
	wanted  atomic.Int64             // until when this node tries to lead although another one does: see TakeOver
	last    atomic.Pointer[Snapshot] // of the group
	current atomic.Bool              // the end of the log was seen
}

// failed notes whether the medium works.
func (m *Member) failed(err error) {
	was := m.trouble.Load()
	switch {
	case err == nil:
		m.trouble.Store(nil)
		m.o.Log.Info("the log of the group works again", event.GroupRecovered)
		return
	case was == nil:
		m.o.Log.Warn("the log of the group cannot be reached; will retry", event.GroupTrouble, "error", err)
	}
	m.trouble.Store(&err)
}

// setLeader notes who leads, from the data of a claim; nil: nobody. A claim of this node is one of an earlier process, which
// leads no longer.
func (m *Member) setLeader(claim []byte) {
	var a Address
	if m.left = claim == nil; !m.left && json.Unmarshal(claim, &a) != nil || a == m.o.Address {
		a = Address{}
	}
	m.follow(a)
}

// follow makes the store refuse changes with the address of the leader; zero: nobody leads, or it is unknown.
func (m *Member) follow(a Address) {
	m.announce(a)
	if m.store != nil {
		m.store.SetLeader(a.String())
	}
}

// announce says who leads.
func (m *Member) announce(a Address) {
	m.address.Store(&a)
	if m.o.Leader != nil {
		m.o.Leader(a)
	}
}

// Settings returns the settings of the group, nil if the shared log has not been read yet.
func (m *Member) Settings() []byte {
	if l := m.shared.Load(); l != nil {
		return l.Settings()
	}
	return nil
}

// Close ends the membership of a node whose store is closed: a leader lets another one claim at once.
func (m *Member) Close(ctx context.Context) error {
	var errs []error
	d := m.leader.Load()
	if d != nil && d.Err() == nil {
		errs = append(errs, d.Leave(ctx))
	}
	var was sharedlog.Position
	return errors.Join(append(errs, m.persist(ctx, &was))...)
}

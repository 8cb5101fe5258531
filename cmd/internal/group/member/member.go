package member

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/snapfile"
	"github.com/umbel-filters/umbel/cmd/internal/durable/store"
	"github.com/umbel-filters/umbel/cmd/internal/durable/wal"
	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog"
	"github.com/umbel-filters/umbel/internal/event"
	"github.com/umbel-filters/umbel/internal/pause"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/share"
	"github.com/zeebo/xxh3"
)

var (
	// ErrAgain is wrapped by the error of Run if the node has to start again: it led and leads no longer, or it follows from a snapshot of
	// the group.
	ErrAgain = errors.New("the node starts again as a follower")
	// errForeign means that the data are not those of a member.
	errForeign = errors.New("the data directory has filters of a node without a group: start with an empty one, and send the filters to the leader (umbel node get, umbel node put)")
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
	Log      *slog.Logger
}

// Member is a node's place in a group. Its methods are safe for concurrent use, except Run.
type Member struct {
	o       Options
	store   *store.Store
	shared  atomic.Pointer[sharedlog.Log]
	own     map[uint64]uint64 // XXH3-64 of batches in the own log, by index, that are still to be compared with those of the shared log
	rewound bool              // the shared log is read again: see rewindAfter

	leader  atomic.Pointer[sharedlog.Leader] // not nil if this node leads
	address atomic.Pointer[Address]          // of the leader; nil: unknown
	problem atomic.Pointer[error]            // why this node can neither follow nor lead; nil: it can
	trouble atomic.Pointer[error]            // of the medium; nil: it works
	hurry   atomic.Pointer[context.CancelCauseFunc]
	wanted  atomic.Int64             // until when this node tries to lead although another one does: see TakeOver
	last    atomic.Pointer[Snapshot] // of the group
	current atomic.Bool              // the end of the log was seen
}

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

// Join opens the shared log at the place of the node. A new node gets a snapshot of the group, if there is one. It returns when the own log is as long as
// the own snapshots need.
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
	found := p != place{}
	if !found && (last != 0 || o.Files.LastNumber() != 0) {
		return nil, errForeign
	}
	if !found {
		if p, err = m.begin(ctx); err != nil {
			return nil, err
		}
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
		Settings: m.o.Settings, Silence: m.o.Silence, Claim: claim, Failed: m.failed,
	})
	if err != nil {
		return err
	}
	m.shared.Store(l)
	m.setLeader(l.Leader())
	return nil
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

// setLeader notes who leads, from the data of a claim; nil: nobody.
func (m *Member) setLeader(claim []byte) {
	var a Address
	if claim == nil || json.Unmarshal(claim, &a) != nil {
		m.address.Store(nil)
	} else {
		m.address.Store(&a)
	}
	if m.store != nil {
		m.store.SetLeader(a.String())
	}
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

// Settings returns the settings of the group, nil if the shared log has not been read yet.
func (m *Member) Settings() []byte {
	if l := m.shared.Load(); l != nil {
		return l.Settings()
	}
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

// Run follows and leads until ctx is done, and then returns nil. s is the store, which has the own log and follows. An error that wraps ErrAgain means that the node
// has to be started again; Run does not end with another one: it notes the problem and waits.
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
	if m.address.Load() == nil && l.Position().Claim != 0 && !m.takesOver() {
		pause.For(ctx, courtesy)
	}
	d, err := l.Claim(ctx)
	if errors.Is(err, sharedlog.ErrLost) {
		return nil
	}
	if err != nil {
		return err
	}
	return m.lead(ctx, d)
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

// rewindAfter returns why, unless it says that the medium has lost entries that this node has. Then it begins to read the shared log again, to compare it
// with the own log; what is missing is put again if this node leads.
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
			return sentinel.Errorf(sharedlog.ErrFork, "batch %d of the log of the group is not the one that this node has: its medium lost entries, and others were put since; "+
				"start this node with an empty data directory to follow the group as it is now", index)
		}
		delete(m.own, index)
	}
	return nil
}

// errStale is wrapped by the errors of Fresh.
var errStale = fmt.Errorf("this node may be behind its group: %w", share.ErrStale)

// Fresh returns an error that wraps share.ErrStale if an answer of this node may lack a key that a client added: a leader cannot know whether another one leads
// by now, or a follower has not seen the end of the log within Options.MaxAge, or not at all since it started. Without MaxAge, a follower that cannot reach the log answers.
func (m *Member) Fresh() error {
	if d := m.leader.Load(); d != nil {
		if d.MayAnswerAbsent() {
			return nil
		}
		return fmt.Errorf("%w: the leader has not reached the log of the group; query another member, or try again", errStale)
	}
	if m.o.MaxAge == 0 && m.current.Load() {
		return nil
	}
	age, known := m.Age()
	m.current.Store(known)
	switch {
	case m.o.MaxAge == 0 && (known || m.trouble.Load() != nil || m.problem.Load() != nil):
		return nil
	case !known:
		return fmt.Errorf("%w: it has not seen the end of the log since it started; query another member, or try again", errStale)
	case age > m.o.MaxAge:
		return fmt.Errorf("%w: it has not seen the end of the log for %v, and max-age is %v; query another member, or try again", errStale, age.Round(time.Millisecond), m.o.MaxAge)
	}
	return nil
}

// Age returns the time for which this node may lack changes of clients, at most. known is false if it has not seen the end of the log since it started.
func (m *Member) Age() (age time.Duration, known bool) {
	if d := m.leader.Load(); d != nil && d.MayAnswerAbsent() {
		return 0, true
	}
	if l := m.shared.Load(); l != nil {
		if at := l.Current(); !at.IsZero() {
			return time.Since(at), true
		}
	}
	return 0, false
}

// persist writes the place of the node to its file, after the own log is durable up to it.
func (m *Member) persist(ctx context.Context, was *sharedlog.Position) error {
	l := m.shared.Load()
	if l == nil {
		return nil
	}
	at := l.Position()
	if d := m.leader.Load(); d != nil {
		if at = d.Committed(); at.Index >= m.o.Own.Next() { // not written to the own log yet
			var err error
			if at, err = d.Position(m.o.Own.Next() - 1); err != nil {
				return nil
			}
		}
	}
	if at == *was {
		return nil
	}
	n, err := m.o.Own.Commit(ctx)
	if err != nil || at.Index > n {
		return err
	}
	if err := (place{at: at}).write(m.o.Data); err != nil {
		return err
	}
	*was = at
	return nil
}

// Keep writes the place of the node to its file from time to time until ctx is done.
func (m *Member) Keep(ctx context.Context) {
	var was sharedlog.Position
	for tick := time.NewTicker(keepEvery); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			return
		case <-tick.C:
		}
		if err := m.persist(ctx, &was); err != nil && ctx.Err() == nil {
			m.o.Log.Warn("could not write the node's place in its group; will retry", event.CleanupFailed, "error", err)
		}
	}
}

const keepEvery = 5 * time.Second

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

// TakeOver makes this node try for some seconds to claim the log, although another one leads: it succeeds if that one has nothing to write, or when it leaves, because
// the others then wait. It returns an error if this node leads, or cannot follow.
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

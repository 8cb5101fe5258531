package sharedlog_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog"
	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog/mediumtest"
	"github.com/umbel-filters/umbel/internal/pause"
)

// kept is what a member, or a snapshot, has: the batches up to a position, in order.
type kept struct {
	At  sharedlog.Position
	IDs []uint64
}

// member is a node. It lives again and again.
type member struct {
	w      *world
	name   string
	link   *mediumtest.Link
	random *rand.Rand // of run

	mu       sync.Mutex
	disk     kept
	eager    context.CancelCauseFunc // makes it claim although the log is not silent
	leaves   bool                    // leaves when it leads
	kill     context.CancelFunc      // ends its life
	resumed  chan struct{}           // nil unless it is paused
	sleeps   bool                    // its steady clock stops while it is paused
	pausedAt time.Time
	stopped  time.Duration // of the steady clock
	jump     time.Duration // of the clock of the day
	jumped   time.Time     // when
	rate     float64       // of the steady clock
	leading  bool
}

// wait returns when the member is not paused.
func (m *member) wait() {
	for {
		m.mu.Lock()
		resumed := m.resumed
		m.mu.Unlock()
		if resumed == nil {
			return
		}
		<-resumed
	}
}

// pause stops the member. If it sleeps, its steady clock stops too; then the clock of the day has not been set within
// the last lease, since otherwise none of its clocks would be right.
func (m *member) pause(sleeps bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.resumed == nil && !(sleeps && time.Since(m.jumped) < 2*time.Second) {
		m.resumed, m.sleeps, m.pausedAt = make(chan struct{}), sleeps, time.Now()
	}
}

// set sets the clock of the day.
func (m *member) set(jump time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.resumed == nil || !m.sleeps {
		m.jump += jump
		m.jumped = time.Now()
	}
}

func (m *member) resume() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.resumed == nil {
		return
	}
	if m.sleeps {
		m.stopped += time.Since(m.pausedAt)
	}
	close(m.resumed)
	m.resumed = nil
}

// clock returns the time on the clocks of the member.
func (m *member) clock() (steady, day time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Since(m.w.began)
	steady = now - m.stopped
	if m.resumed != nil && m.sleeps {
		steady -= time.Since(m.pausedAt)
	}
	return time.Duration(float64(steady) * m.rate), now + m.jump
}

func (m *member) setLeading(is bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.leading = is
}

func (m *member) keep(at sharedlog.Position, ids []uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if at.Number > m.disk.At.Number {
		m.disk = kept{at, slices.Clone(ids)}
	}
}

// run lives until ctx is done.
func (m *member) run(ctx context.Context) {
	for ctx.Err() == nil {
		life, kill := context.WithCancel(ctx)
		m.mu.Lock()
		m.kill = kill
		disk := m.disk
		m.mu.Unlock()
		err := m.live(life, disk)
		kill()
		m.wait()
		switch {
		case errors.Is(err, sharedlog.ErrHole):
			m.mu.Lock()
			number := m.disk.At.Number
			m.mu.Unlock()
			if s, failure := m.newest(ctx); failure == nil && s.At.Number <= number {
				m.w.damage(m, err)
			} else if failure == nil {
				m.keep(s.At, s.IDs)
			}
		case isDamage(err):
			m.w.damage(m, err)
		}
		pause.For(ctx, time.Duration(m.random.Int64N(int64(500*time.Millisecond))))
	}
}

func isDamage(err error) bool {
	for _, class := range []error{
		sharedlog.ErrHole, sharedlog.ErrRegressed, sharedlog.ErrFork, sharedlog.ErrDamaged,
		sharedlog.ErrVersion, sharedlog.ErrOtherGroup, sharedlog.ErrUnfit,
	} {
		if errors.Is(err, class) {
			return true
		}
	}
	return false
}

// live is the life of a process.
func (m *member) live(ctx context.Context, state kept) error {
	l, err := sharedlog.Open(ctx, m.link, state.At, sharedlog.Options{Claim: []byte(m.name)}.WithClock(m.clock))
	if err != nil {
		return err
	}
	ids := slices.Clone(state.IDs)
	for {
		following, eager := context.WithCancelCause(ctx)
		m.mu.Lock()
		m.eager = eager
		m.mu.Unlock()
		err := l.Follow(following, func(e sharedlog.Entry) error {
			if e.Kind == sharedlog.Batch {
				ids = append(ids, binary.LittleEndian.Uint64(e.Data))
				if uint64(len(ids)) != e.Position.Index {
					m.w.fail("%s has %d batches at index %d", m.name, len(ids), e.Position.Index)
				}
			}
			m.keep(e.Position, ids)
			m.w.applied(m, ids)
			return nil
		})
		eager(nil)
		if !errors.Is(err, sharedlog.ErrSilent) && !errors.Is(err, errEager) {
			return err
		}
		m.wait()
		leader, err := l.Claim(ctx)
		if errors.Is(err, sharedlog.ErrLost) || err != nil && ctx.Err() == nil && !isDamage(err) {
			continue
		} else if err != nil {
			return err
		}
		return m.lead(ctx, leader, ids)
	}
}

// claimAtOnce makes the member claim if it follows.
func (m *member) claimAtOnce() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.eager != nil {
		m.eager(errEager)
	}
}

var errEager = errors.New("claims at once")

// reign is a member that leads.
type reign struct {
	*member
	leader *sharedlog.Leader
	first  uint64 // index of the first batch that it proposes

	mu     sync.Mutex
	ids    []uint64        // in the order of their indices
	memory map[uint64]bool // changes before a batch is proposed
	acked  uint64          // index
}

// lead writes batches, answers queries and makes snapshots.
func (m *member) lead(ctx context.Context, leader *sharedlog.Leader, ids []uint64) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m.w.leads.Add(1)
	m.setLeading(true)
	defer m.setLeading(false)
	r := &reign{
		member: m, leader: leader, first: uint64(len(ids)) + 1,
		ids: slices.Clone(ids), acked: uint64(len(ids)), memory: make(map[uint64]bool),
	}
	for _, id := range ids {
		r.memory[id] = true
	}
	var tasks sync.WaitGroup
	stop := context.AfterFunc(ctx, func() { leader.Close() })
	defer stop()
	go func() {
		<-leader.Lost()
		cancel()
	}()
	proposing := make(chan struct{}, 1) // journal has one writer
	seed := m.random.Uint64()
	for i := range 3 {
		tasks.Go(func() { r.write(ctx, proposing, rand.New(rand.NewPCG(seed, uint64(i)))) })
	}
	tasks.Go(func() { r.commit(ctx) })
	tasks.Go(func() { r.query(ctx, rand.New(rand.NewPCG(seed, 10))) })
	tasks.Go(func() { r.snapshot(ctx, rand.New(rand.NewPCG(seed, 11))) })
	for pause.For(ctx, 50*time.Millisecond) {
		m.wait()
		m.mu.Lock()
		leaves := m.leaves
		m.leaves = false
		m.mu.Unlock()
		if leaves {
			proposing <- struct{}{} // nothing is proposed any more
			err := leader.Leave(ctx)
			<-proposing
			if err == nil {
				m.w.left.Add(1)
			}
			break
		}
	}
	cancel()
	leader.Close()
	tasks.Wait()
	return leader.Err()
}

// write adds keys: first in memory, then to the log.
func (r *reign) write(ctx context.Context, proposing chan struct{}, random *rand.Rand) {
	for pause.For(ctx, time.Duration(random.Int64N(int64(300*time.Millisecond)))) {
		for range 1 + random.IntN(6) {
			r.wait()
			id := r.w.begin()
			proposing <- struct{}{}
			r.mu.Lock()
			r.memory[id] = true
			r.mu.Unlock()
			data := append(binary.LittleEndian.AppendUint64(nil, id), make([]byte, random.IntN(100))...)
			index, err := r.leader.Propose(ctx, data, nil)
			if err == nil {
				r.mu.Lock()
				r.ids = append(r.ids, id)
				if index != uint64(len(r.ids)) {
					r.w.fail("%s proposed batch %d as %d", r.name, len(r.ids), index)
				}
				r.mu.Unlock()
			}
			<-proposing
			if err != nil {
				return
			}
		}
	}
}

// commit acknowledges what is committed.
func (r *reign) commit(ctx context.Context) {
	for pause.For(ctx, 5*time.Millisecond) {
		index, err := r.leader.Commit(ctx)
		r.wait()
		if err != nil {
			continue
		}
		r.mu.Lock()
		for r.acked < index && r.acked < uint64(len(r.ids)) {
			r.acked++
			r.w.acknowledge(r.ids[r.acked-1])
		}
		ids := slices.Clone(r.ids[:r.acked])
		r.mu.Unlock()
		if r.acked >= r.first {
			if at, err := r.leader.Position(r.acked); err == nil {
				r.keep(at, ids)
			}
		}
	}
}

// query answers queries of keys that were added anywhere.
func (r *reign) query(ctx context.Context, random *rand.Rand) {
	for pause.For(ctx, time.Duration(random.Int64N(int64(20*time.Millisecond)))) {
		id, wasAcknowledged := r.w.pick(random)
		r.wait()
		r.mu.Lock()
		present := r.memory[id]
		r.mu.Unlock()
		if random.IntN(20) == 0 {
			pause.For(ctx, time.Duration(random.Int64N(int64(2*time.Second))))
		}
		r.wait()
		may := r.leader.MayAnswerAbsent()
		r.w.queried(may)
		if !present && may && wasAcknowledged {
			r.w.fail("%s, leader of epoch %d, answered that %d is absent, which was acknowledged", r.name, r.leader.Committed().Epoch, id)
		}
	}
}

// snapshot makes snapshots, and trims the log.
func (r *reign) snapshot(ctx context.Context, random *rand.Rand) {
	for pause.For(ctx, time.Duration(random.Int64N(int64(8*time.Second)))) {
		r.wait()
		at := r.leader.Committed()
		r.mu.Lock()
		if at.Index > uint64(len(r.ids)) {
			r.mu.Unlock()
			continue
		}
		s := kept{at, slices.Clone(r.ids[:at.Index])}
		r.mu.Unlock()
		text, err := json.Marshal(s)
		if err != nil {
			panic(err)
		}
		if err := r.link.Put(ctx, fmt.Sprintf("snapshot/%016x", at.Number), text); err != nil {
			continue
		}
		if r.leader.Trim(ctx, at.Number) == nil {
			r.w.trims.Add(1)
		}
	}
}

// newest returns the newest snapshot.
func (m *member) newest(ctx context.Context) (s kept, err error) {
	for err = errFirst; err != nil && !errors.Is(err, sharedlog.ErrNone) && ctx.Err() == nil; pause.For(ctx, 100*time.Millisecond) {
		short, cancel := context.WithTimeout(ctx, time.Second)
		var all []string
		if all, err = m.link.List(short, "snapshot/"); err == nil && len(all) == 0 {
			err = sharedlog.ErrNone
		} else if err == nil {
			var text []byte
			if text, err = m.link.Get(short, all[len(all)-1]); err == nil {
				err = json.Unmarshal(text, &s)
			}
		}
		cancel()
	}
	return s, err
}

var errFirst = errors.New("not tried")

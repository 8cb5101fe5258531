package sharedlog_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog"
	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog/mediumtest"
	"github.com/umbel-filters/umbel/internal/pause"
)

// world is a group whose members share a medium, and what was observed of it.
type world struct {
	began   time.Time
	medium  *mediumtest.Memory
	members []*member

	leads, left, trims atomic.Int64

	mu       sync.Mutex
	next     uint64              // the last key
	acked    []uint64            // keys in the order in which they were acknowledged
	number   map[uint64]int      // of acknowledged keys, in that order
	floor    map[uint64]int      // how many were acknowledged when the addition of a key began
	longest  []uint64            // the longest sequence of batches that a member has applied
	answers  [2]int              // queries that could not, and that could be answered absent
	problems []string            // violations of the laws
	damaged  map[string][]string // errors that report damage, by member
}

func (w *world) fail(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.problems = append(w.problems, fmt.Sprintf(format, args...))
}

// damage notes that a member reported damage.
func (w *world) damage(m *member, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.damaged[m.name] = append(w.damaged[m.name], err.Error())
}

// begin returns a new key.
func (w *world) begin() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next++
	w.floor[w.next] = len(w.acked)
	return w.next
}

// acknowledge notes that the addition of a key was acknowledged.
func (w *world) acknowledge(id uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, ok := w.number[id]; ok {
		w.problems = append(w.problems, fmt.Sprintf("%d was acknowledged twice", id))
	}
	w.number[id] = len(w.acked)
	w.acked = append(w.acked, id)
}

// pick returns a key whose addition has begun, rather a late one, and whether it is acknowledged.
func (w *world) pick(random *rand.Rand) (id uint64, acknowledged bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.next == 0 {
		return 0, false
	}
	id = w.next - random.Uint64N(min(w.next, 30))
	_, acknowledged = w.number[id]
	return id, acknowledged
}

func (w *world) queried(may bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if may {
		w.answers[1]++
	} else {
		w.answers[0]++
	}
}

// applied checks that what a member has applied begins as that of the others.
func (w *world) applied(m *member, ids []uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := min(len(ids), len(w.longest))
	from := max(0, n-50) // what is before was compared when it was applied
	if !slices.Equal(ids[from:n], w.longest[from:n]) && len(w.damaged) == 0 {
		w.problems = append(w.problems, fmt.Sprintf("%s has applied other batches than others up to %d: %v, %v",
			m.name, n, ids[from:n], w.longest[from:n]))
	}
	if len(ids) > len(w.longest) {
		w.longest = slices.Clone(ids)
	}
}

// newWorld starts a group of three. A member has clocks whose speeds differ.
func newWorld(seed uint64) (*world, *rand.Rand) {
	random := rand.New(rand.NewPCG(seed, 1))
	w := &world{
		began: time.Now(), medium: new(mediumtest.Memory),
		number: make(map[uint64]int), floor: make(map[uint64]int), damaged: make(map[string][]string),
	}
	for i := range 3 {
		m := &member{w: w, name: string(rune('a' + i)), rate: 0.8 + 0.5*random.Float64(), random: rand.New(rand.NewPCG(seed, uint64(2+i)))}
		m.link = mediumtest.NewLink(w.medium, random.Uint64(), m.wait)
		w.members = append(w.members, m)
	}
	return w, random
}

// calm are the faults of a good network.
var calm = mediumtest.Faults{Delay: 10 * time.Millisecond}

// trouble does something to the group, after which it is in trouble for some time.
func (w *world) trouble(ctx context.Context, random *rand.Rand) {
	span := func(d time.Duration) time.Duration { return time.Duration(random.Int64N(int64(d))) }
	m := w.members[random.IntN(len(w.members))]
	if random.IntN(2) == 0 { // the leader, if there is one
		for _, other := range w.members {
			other.mu.Lock()
			if other.leading {
				m = other
			}
			other.mu.Unlock()
		}
	}
	switch random.IntN(11) {
	case 0:
		m.mu.Lock()
		if m.kill != nil {
			m.kill()
		}
		if random.IntN(3) == 0 {
			m.disk = kept{}
		}
		m.mu.Unlock()
	case 1:
		m.pause(random.IntN(2) == 0)
		time.AfterFunc(span(10*time.Second), m.resume)
	case 2:
		m.pause(random.IntN(2) == 0)
		time.AfterFunc(span(time.Minute), m.resume)
	case 3:
		m.link.Set(mediumtest.Faults{Down: true, Hang: random.Float64(), Late: span(40 * time.Second)})
		time.AfterFunc(span(8*time.Second), func() { m.link.Set(calm) })
	case 4:
		f := mediumtest.Faults{
			Delay: 10*time.Millisecond + span(300*time.Millisecond), Fail: 0.5 * random.Float64(), Hang: 0.3 * random.Float64() * random.Float64(),
			Late: span(40 * time.Second), Twice: 0.3 * random.Float64(),
		}
		for _, m := range w.members {
			if random.IntN(3) > 0 {
				m.link.Set(f)
			}
		}
	case 5:
		for _, m := range w.members { // the medium throttles
			m.link.Set(mediumtest.Faults{Delay: 100 * time.Millisecond, Fail: 0.9})
		}
		pause.For(ctx, span(5*time.Second))
		for _, m := range w.members {
			m.link.Set(calm)
		}
	case 6:
		m.set(span(time.Hour) - 30*time.Minute)
	case 7:
		m.claimAtOnce()
	case 8:
		m.mu.Lock()
		m.leaves = true
		m.mu.Unlock()
	case 9, 10: // the leader loses its connection, and another takes over at once
		m.link.Set(mediumtest.Faults{Down: true, Hang: random.Float64(), Late: span(40 * time.Second)})
		time.AfterFunc(span(8*time.Second), func() { m.link.Set(calm) })
		pause.For(ctx, span(500*time.Millisecond))
		if other := w.members[random.IntN(len(w.members))]; other != m {
			other.claimAtOnce()
		}
	}
}

// heal ends all trouble.
func (w *world) heal() {
	for _, m := range w.members {
		m.resume()
		m.link.Set(calm)
	}
}

// progress waits until a batch is acknowledged whose addition begins now or later.
func (w *world) progress(ctx context.Context) error {
	w.mu.Lock()
	from := w.next
	w.mu.Unlock()
	for {
		w.mu.Lock()
		ok := len(w.acked) > 0 && w.acked[len(w.acked)-1] > from
		w.mu.Unlock()
		if ok {
			return nil
		}
		if !pause.For(ctx, 10*time.Millisecond) {
			return ctx.Err()
		}
	}
}

// read returns what a new reader finds, with the help of the newest snapshot.
func (w *world) read(ctx context.Context) ([]uint64, error) {
	m := &member{w: w, name: "reader", rate: 1, random: rand.New(rand.NewPCG(0, 0))}
	m.link = mediumtest.NewLink(w.medium, 0, m.wait)
	s, err := m.newest(ctx)
	if err != nil && !errors.Is(err, sharedlog.ErrNone) {
		return nil, err
	}
	l, err := sharedlog.Open(ctx, m.link, s.At, sharedlog.Options{})
	if err != nil {
		return nil, err
	}
	err = l.Follow(ctx, func(e sharedlog.Entry) error {
		if e.Kind == sharedlog.Batch {
			s.IDs = append(s.IDs, binary.LittleEndian.Uint64(e.Data))
		}
		return nil
	})
	if errors.Is(err, sharedlog.ErrSilent) {
		err = nil
	}
	return s.IDs, err
}

// check compares what readers find at the end with what was acknowledged.
func (w *world) check(final []uint64) {
	place := make(map[uint64]int)
	for i, id := range final {
		if before, ok := place[id]; ok {
			w.fail("batch %d has indices %d and %d", id, before+1, i+1)
		}
		place[id] = i
	}
	for _, id := range w.acked {
		if _, ok := place[id]; !ok {
			w.fail("batch %d was acknowledged, and is lost", id)
		}
	}
	if n := len(w.longest); n > len(final) || !slices.Equal(w.longest, final[:n]) {
		w.fail("a member has applied %d batches that are not the first of the %d in the log", n, len(final))
	}
	// What was acknowledged before an addition began precedes it. latest is the greatest index of the first n
	// acknowledged ones.
	latest := make([]int, len(w.acked)+1)
	for i, id := range w.acked {
		latest[i+1] = max(latest[i], place[id]+1)
	}
	for id, i := range place {
		if latest[w.floor[id]] > i {
			w.fail("batch %d has index %d, and began after the one of index %d was acknowledged", id, i+1, latest[w.floor[id]])
		}
	}
}

// simulate runs a history, and returns its world.
func simulate(t *testing.T, seed uint64) (w *world) {
	synctest.Test(t, func(t *testing.T) {
		var random *rand.Rand
		w, random = newWorld(seed)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var members sync.WaitGroup
		for _, m := range w.members {
			m.link.Set(calm)
			members.Go(func() { m.run(ctx) })
		}
		for end := time.Now().Add(40 * time.Second); time.Now().Before(end); {
			pause.For(ctx, time.Duration(random.Int64N(int64(3*time.Second))))
			w.trouble(ctx, random)
		}
		w.heal()
		patient, stop := context.WithTimeout(ctx, 30*time.Second)
		if err := w.progress(patient); err != nil {
			w.fail("nothing is acknowledged within 30 seconds after the end of all trouble")
		}
		stop()
		cancel()
		w.heal()
		members.Wait()
		time.Sleep(2 * time.Minute) // late puts arrive
		final, err := w.read(t.Context())
		if err != nil {
			w.fail("a new reader: %v", err)
		}
		w.check(final)
		for name, errs := range w.damaged {
			w.fail("%s reports damage: %v", name, errs)
		}
	})
	return w
}

// histories is the number of histories of TestHistories: 200, 20 in the short form, 10,000 with UMBEL_LONG=1, or
// UMBEL_TRIALS.
func histories() int {
	if n, err := strconv.Atoi(os.Getenv("UMBEL_TRIALS")); err == nil {
		return n
	}
	switch {
	case os.Getenv("UMBEL_LONG") != "":
		return 10_000
	case testing.Short():
		return 20
	}
	return 200
}

// Under kills, pauses, partitions, lost answers, late and doubled puts, throttling and clocks that jump, acknowledged
// batches are in the log once and in order, all members apply the same ones, and no leader answers absent for what
// another has acknowledged.
func TestHistories(t *testing.T) {
	var acked, leads, left, trims, may, mayNot atomic.Int64
	t.Run("all", func(t *testing.T) {
		for i := range histories() {
			t.Run(strconv.Itoa(i), func(t *testing.T) {
				t.Parallel()
				w := simulate(t, uint64(i))
				for _, p := range w.problems[:min(len(w.problems), 5)] {
					t.Error(p)
				}
				acked.Add(int64(len(w.acked)))
				leads.Add(w.leads.Load())
				left.Add(w.left.Load())
				trims.Add(w.trims.Load())
				mayNot.Add(int64(w.answers[0]))
				may.Add(int64(w.answers[1]))
			})
		}
	})
	n := int64(histories())
	t.Logf("%d histories: %d batches acknowledged, %d leaders of whom %d left, %d trims, %d queries within a lease and %d without",
		n, acked.Load(), leads.Load(), left.Load(), trims.Load(), may.Load(), mayNot.Load())
	if acked.Load() < 50*n || leads.Load() < 3*n || trims.Load() < n || may.Load() < 100*n || mayNot.Load() < n {
		t.Error("too little has happened to show anything")
	}
}

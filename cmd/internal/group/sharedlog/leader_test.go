package sharedlog_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog"
	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog/mediumtest"
)

// open opens a log at a position.
func open(t *testing.T, m sharedlog.Medium, at sharedlog.Position, claim string) *sharedlog.Log {
	t.Helper()
	l, err := sharedlog.Open(t.Context(), m, at, sharedlog.Options{Claim: []byte(claim)})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// claim makes a log lead, which ends with the test.
func claim(t *testing.T, l *sharedlog.Log) *sharedlog.Leader {
	t.Helper()
	d, err := l.Claim(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

func propose(t *testing.T, d *sharedlog.Leader, batches ...string) {
	t.Helper()
	for _, b := range batches {
		if _, err := d.Propose(t.Context(), []byte(b), nil); err != nil {
			t.Fatal(err)
		}
	}
}

func commit(t *testing.T, d *sharedlog.Leader, want uint64) {
	t.Helper()
	if got, err := d.Commit(t.Context()); err != nil || got != want {
		t.Fatalf("Commit: %d, %v; want %d", got, err, want)
	}
}

// follow follows a log until it is silent, and returns the batches and the positions after them.
func follow(t *testing.T, l *sharedlog.Log) (batches []string, after []sharedlog.Position, err error) {
	t.Helper()
	err = l.Follow(t.Context(), func(e sharedlog.Entry) error {
		if e.Kind == sharedlog.Batch {
			batches, after = append(batches, string(e.Data)), append(after, e.Position)
		}
		return nil
	})
	return batches, after, err
}

// A second process that claims takes over: the first one learns it, its batches that are not committed are gone, and
// the second one commits nothing while the first may hold its lease.
func TestTakeOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := new(mediumtest.Memory)
		link := mediumtest.NewLink(m, 1, func() {})
		first := claim(t, open(t, link, sharedlog.Position{}, "first"))
		propose(t, first, "a", "b")
		commit(t, first, 2)
		l := open(t, m, sharedlog.Position{}, "second")
		if _, err := l.Claim(t.Context()); !errors.Is(err, sharedlog.ErrHole) && !errors.Is(err, sharedlog.ErrLost) {
			t.Fatalf("Claim of a process that has read nothing: %v", err)
		}
		link.Set(mediumtest.Faults{Down: true})
		propose(t, first, "lost")
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		if err := l.Follow(ctx, func(sharedlog.Entry) error { return nil }); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		began := time.Now()
		second := claim(t, l)
		propose(t, second, "c")
		if !first.MayAnswerAbsent() {
			t.Error("the first leader has no lease")
		}
		commit(t, second, 3)
		if waited := time.Since(began); waited < l.Silence()/2 {
			t.Errorf("the second leader committed after %v, when the first had its lease", waited)
		}
		if first.MayAnswerAbsent() {
			t.Error("the first leader has a lease")
		}
		link.Set(mediumtest.Faults{})
		<-first.Lost()
		if _, err := first.Commit(t.Context()); !errors.Is(err, sharedlog.ErrDeposed) || !errors.Is(first.Err(), sharedlog.ErrDeposed) {
			t.Errorf("Commit of the first leader: %v, want ErrDeposed", err)
		}
		if _, err := first.Propose(t.Context(), []byte("d"), nil); !errors.Is(err, sharedlog.ErrDeposed) {
			t.Errorf("Propose of the first leader: %v, want ErrDeposed", err)
		}
		if err := second.Leave(t.Context()); err != nil {
			t.Fatal(err)
		}
		l = open(t, m, sharedlog.Position{}, "")
		batches, _, err := follow(t, l)
		if !errors.Is(err, sharedlog.ErrSilent) || !slices.Equal(batches, []string{"a", "b", "c"}) || string(l.Leader()) != "second" {
			t.Errorf("%q, %v, leader %s; want a, b, c", batches, err, l.Leader())
		}
	})
}

// lastKind returns the kind of the last entry.
func lastKind(t *testing.T, m sharedlog.Medium) sharedlog.Kind {
	t.Helper()
	all, err := m.List(t.Context(), "log/0")
	if err != nil {
		t.Fatal(err)
	}
	b, err := m.Get(t.Context(), all[len(all)-1])
	if err != nil {
		t.Fatal(err)
	}
	return sharedlog.Kind(b[12])
}

// After a leader has left, another one claims and commits at once.
func TestLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := new(mediumtest.Memory)
		l := open(t, m, sharedlog.Position{}, "second")
		slow := mediumtest.NewLink(m, 1, func() {})
		followed := make(chan error)
		go func() { followed <- l.Follow(t.Context(), func(sharedlog.Entry) error { return nil }) }()
		first := claim(t, open(t, slow, sharedlog.Position{}, "first"))
		propose(t, first, "a")
		time.Sleep(10 * time.Second) // beats keep it leader
		if !first.MayAnswerAbsent() {
			t.Error("a leader has no lease")
		}
		slow.Set(mediumtest.Faults{Delay: 50 * time.Millisecond})
		began := time.Now()
		left := make(chan error)
		go func() { left <- first.Leave(t.Context()) }()
		for done := false; !done; {
			select {
			case err := <-left:
				if done = true; err != nil {
					t.Fatal(err)
				}
			case <-time.After(time.Millisecond):
			}
			if lastKind(t, m) == sharedlog.Leave && first.MayAnswerAbsent() {
				t.Fatal("others know that the leader has left, and it has a lease")
			}
		}
		if err := <-followed; !errors.Is(err, sharedlog.ErrSilent) {
			t.Fatal(err)
		}
		second := claim(t, l)
		propose(t, second, "b")
		commit(t, second, 2)
		if took := time.Since(began); took > l.Silence()/2 {
			t.Errorf("it took %v", took)
		}
	})
}

// While the medium fails, its errors are reported, and memory is not called current; then it is again, and the end of the
// trouble is reported once.
func TestTrouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := new(mediumtest.Memory)
		link := mediumtest.NewLink(m, 1, func() {})
		var mu sync.Mutex
		var failures, ends int
		l, err := sharedlog.Open(t.Context(), link, sharedlog.Position{}, sharedlog.Options{Failed: func(err error) {
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failures++
			} else {
				ends++
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		claim(t, open(t, m, sharedlog.Position{}, ""))
		ctx, cancel := context.WithCancel(t.Context())
		followed := make(chan error)
		go func() { followed <- l.Follow(ctx, func(sharedlog.Entry) error { return nil }) }()
		wantAge := func(from, to time.Duration) {
			t.Helper()
			time.Sleep(time.Minute)
			if age := time.Since(l.Current()); age < from || age > to {
				t.Errorf("memory is current as of %v ago, want %v to %v", age, from, to)
			}
		}
		wantAge(0, 2*sharedlog.DefaultPoll)
		link.Set(mediumtest.Faults{Down: true})
		wantAge(time.Minute, time.Minute+2*sharedlog.DefaultPoll)
		link.Set(mediumtest.Faults{})
		wantAge(0, 2*sharedlog.DefaultPoll)
		cancel()
		if err := <-followed; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if failures < 50 || ends != 1 {
			t.Errorf("%d failures and %d ends of trouble are reported, want at least 50 and 1", failures, ends)
		}
	})
}

// Several entries are in flight, at most 16; none is committed before all earlier ones; and the error of the medium is
// returned while one is put again.
func TestFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := new(mediumtest.Memory)
		gate := &gated{Medium: m, held: make(map[string]chan error)}
		l := open(t, gate, sharedlog.Position{}, "")
		d := claim(t, l)
		d0 := d.Committed().Number
		hold := make(chan error)
		gate.hold(sharedlog.EntryKey(d0+16), hold)
		for i := range 16 {
			propose(t, d, fmt.Sprint(i))
		}
		more := make(chan bool)
		go func() {
			propose(t, d, "more")
			close(more)
		}()
		synctest.Wait()
		select {
		case <-more:
			t.Error("a 17th entry is in flight")
		default:
		}
		if all, err := m.List(t.Context(), "log/0"); err != nil || len(all) != 2+15 {
			t.Errorf("the medium has %d entries, %v; want 17", len(all), err)
		}
		if d.Committed().Index != 0 {
			t.Errorf("%d batches are committed, and the first is not there", d.Committed().Index)
		}
		hold <- errors.New("503 slow down")
		hold <- errors.New("503 slow down")
		if _, err := d.Commit(t.Context()); err == nil || errors.Is(err, sharedlog.ErrDeposed) {
			t.Errorf("Commit: %v, want the error of the medium", err)
		}
		close(hold)
		<-more
		commit(t, d, 17)
		if p, err := d.Position(17); err != nil || p != d.Committed() {
			t.Errorf("the position after batch 17 is %v, %v; want %v", p, err, d.Committed())
		}
	})
}

// gated is a medium that holds the puts of some keys until it gets an error for each, or their channel is closed.
type gated struct {
	sharedlog.Medium
	mu   sync.Mutex
	held map[string]chan error
}

func (g *gated) hold(key string, result chan error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held[key] = result
}

func (g *gated) Put(ctx context.Context, key string, data []byte) error {
	g.mu.Lock()
	held := g.held[key]
	g.mu.Unlock()
	if held != nil {
		if err, ok := <-held; ok {
			return err
		}
	}
	return g.Medium.Put(ctx, key, data)
}

// An entry has no scope if it would be too large with it, and a batch that is too large is refused.
func TestLargeBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := new(mediumtest.Memory)
		d := claim(t, open(t, m, sharedlog.Position{}, ""))
		batch := bytes.Repeat([]byte{1}, 768<<10)
		for _, scope := range [][]byte{make([]byte, 100<<10), make([]byte, 256<<10)} {
			if _, err := d.Propose(t.Context(), batch, scope); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := d.Propose(t.Context(), make([]byte, sharedlog.MaxValue), nil); err == nil {
			t.Error("a batch of MaxValue was taken")
		}
		commit(t, d, 2)
		var scopes []int
		err := open(t, m, sharedlog.Position{}, "").Follow(t.Context(), func(e sharedlog.Entry) error {
			if e.Kind == sharedlog.Batch {
				if !bytes.Equal(e.Data, batch) {
					t.Error("other bytes")
				}
				scopes = append(scopes, len(e.Scope))
			}
			if len(scopes) == 2 {
				return errDone
			}
			return nil
		})
		if !errors.Is(err, errDone) || !slices.Equal(scopes, []int{100 << 10, 0}) {
			t.Errorf("%v, scopes of %v bytes", err, scopes)
		}
	})
}

var errDone = errors.New("done")

// A process that continues after its entries, and all that followed, were trimmed acknowledges nothing: neither one that
// led, nor one that was about to claim. Who reads what the latter left gets ErrHole.
func TestLongAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := new(mediumtest.Memory)
		away := &gated{Medium: m, held: make(map[string]chan error)}
		old := claim(t, open(t, away, sharedlog.Position{}, "old"))
		propose(t, old, "a")
		commit(t, old, 1)
		led, claims := make(chan error), make(chan error)
		away.hold(sharedlog.EntryKey(old.Committed().Number+1), led)
		propose(t, old, "never") // is on the way for a long time
		l := open(t, m, sharedlog.Position{}, "new")
		if _, _, err := follow(t, l); !errors.Is(err, sharedlog.ErrSilent) {
			t.Fatal(err)
		}
		leader := claim(t, l)
		batches := slices.Repeat([]string{"b"}, 100)
		propose(t, leader, batches...)
		commit(t, leader, 101)
		at := leader.Committed()
		claimant := open(t, away, at, "late")
		key := sharedlog.EntryKey(at.Number + 1)
		away.hold(key, claims)
		claimed := make(chan error)
		go func() {
			_, err := claimant.Claim(t.Context())
			claimed <- err
		}()
		synctest.Wait() // its claim is on the way, too
		propose(t, leader, batches...)
		commit(t, leader, 201)
		if err := leader.Trim(t.Context(), leader.Committed().Number); err != nil {
			t.Fatal(err)
		}
		all, err := m.List(t.Context(), "log/0")
		if err != nil || len(all) != 33+3 || slices.Contains(all, key) {
			t.Errorf("%d entries are left, %v; want the last 33, the first and two claims", len(all), err)
		}
		led <- errors.New("connection reset")
		close(led)
		<-old.Lost()
		if _, err := old.Commit(t.Context()); !errors.Is(err, sharedlog.ErrDeposed) {
			t.Errorf("Commit of the old leader: %v, want ErrDeposed", err)
		}
		claims <- errors.New("connection reset")
		close(claims)
		if err := <-claimed; !errors.Is(err, sharedlog.ErrLost) {
			t.Errorf("Claim: %v, want ErrLost", err)
		}
		if _, err := m.Get(t.Context(), key); err != nil {
			t.Errorf("the late claim is not there: %v", err)
		}
		if batches, _, err := follow(t, open(t, m, at, "")); !errors.Is(err, sharedlog.ErrHole) || len(batches) > 0 {
			t.Errorf("Follow of a node that was away for as long: %d batches, %v; want ErrHole", len(batches), err)
		}
		began := time.Now()
		if _, _, err := follow(t, open(t, m, sharedlog.Position{}, "")); !errors.Is(err, sharedlog.ErrHole) || time.Since(began) >= l.Silence() {
			t.Errorf("Follow of a new node: %v after %v, want ErrHole sooner than the silence", err, time.Since(began))
		}
		if err := leader.Trim(t.Context(), leader.Committed().Number); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Get(t.Context(), key); !errors.Is(err, sharedlog.ErrNone) {
			t.Errorf("the late claim is still there: %v", err)
		}
	})
}

package store

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/backup"
	"github.com/umbel-filters/umbel/cmd/internal/durable/disk/disktest"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/internal/race"
)

// client has filters of its own, and knows what was acknowledged of them.
type client struct {
	id    int
	rng   *rand.Rand
	keys  map[string]map[int]bool // by name; of filters that are there
	doubt map[string]bool         // names that a call was about which was not acknowledged
}

func newClient(id int, seed uint64) *client {
	return &client{id: id, rng: rand.New(rand.NewPCG(seed, uint64(id))), keys: make(map[string]map[int]bool), doubt: make(map[string]bool)}
}

func (c *client) name() string { return fmt.Sprintf("%d-%d", c.id, c.rng.IntN(3)) }

// kept waits for a change and reports whether it was acknowledged.
func kept(n *node, pos engine.Position, err error) bool {
	return err == nil && n.Wait(context.Background(), pos) == nil
}

// remembering are the kinds that don't forget.
func remembering(t *testing.T) []string {
	return slices.DeleteFunc(kinds(t, 500), func(kind string) bool { return kind == "window" })
}

// shared are the filters that all clients add to.
var shared = []string{"bloom", "blocked", "counting", "redisbloom", "scalable", "dynamic", "splitblock"}

// act does something and reports whether it was acknowledged.
func (c *client) act(n *node, kinds []string, all *acknowledged) bool {
	name, other := c.name(), c.name()
	ok := true
	switch c.rng.IntN(12) {
	case 0, 1, 2, 3:
		name := shared[c.rng.IntN(len(shared))]
		// The same keys as others, at about the same time.
		from := int(time.Now().UnixMicro()/200)%20_000 + c.rng.IntN(3)
		to := from + 1 + c.rng.IntN(6)
		_, pos, err := n.Get([]byte(name)).Add(nil, digests(from, to))
		if ok = kept(n, pos, err); ok {
			all.add(name, from, to)
		}
		return ok
	case 4, 5, 6:
		f := n.Get([]byte(name))
		if f == nil {
			return true
		}
		from := c.rng.IntN(5000)
		_, pos, err := f.Add(nil, digests(from, from+50))
		if ok = kept(n, pos, err); ok && c.keys[name] != nil {
			for i := range 50 {
				c.keys[name][from+i] = true
			}
		}
	case 7, 8:
		_, pos, err := n.Create(name, kinds[c.rng.IntN(len(kinds))], umbel.Goal{Keys: 500, FPRate: .01}, nil)
		if c.keys[name] != nil {
			return true // ErrExists
		}
		if ok = kept(n, pos, err); ok {
			c.keys[name] = make(map[int]bool)
		}
	case 9:
		was, pos, err := n.Delete([]byte(name))
		if ok = kept(n, pos, err); ok && was {
			delete(c.keys, name)
		}
	case 10:
		if c.keys[name] == nil || name == other {
			return true
		}
		pos, err := n.Rename([]byte(name), []byte(other), true)
		if ok = kept(n, pos, err); ok {
			c.keys[other] = c.keys[name]
			delete(c.keys, name)
		}
	case 11:
		if c.keys[name] == nil || name == other {
			return true
		}
		pos, err := n.Copy([]byte(name), []byte(other), true)
		if ok = kept(n, pos, err); ok {
			c.keys[other] = make(map[int]bool)
			for k := range c.keys[name] {
				c.keys[other][k] = true
			}
		}
	}
	if !ok {
		c.doubt[name], c.doubt[other] = true, true
	}
	return ok
}

// check compares a node with what was acknowledged, and forgets what is in doubt.
func (c *client) check(t *testing.T, n *node) {
	t.Helper()
	for i := range 3 {
		name := fmt.Sprintf("%d-%d", c.id, i)
		switch {
		case c.doubt[name]:
			if _, pos, err := n.Delete([]byte(name)); !kept(n, pos, err) {
				t.Errorf("a filter can't be deleted: %v", err)
			}
			delete(c.keys, name)
		case c.keys[name] == nil:
			if n.Get([]byte(name)) != nil {
				t.Errorf("filter %q is there, and its end was acknowledged", name)
			}
		default:
			var ds []umbel.Digest
			for k := range c.keys[name] {
				ds = append(ds, digest(k))
			}
			wantKeys(t, n.Engine, []string{name}, ds)
		}
	}
	clear(c.doubt)
}

// acknowledged are keys of the shared filters.
type acknowledged struct {
	mu   sync.Mutex
	keys map[string]map[int]bool
}

func (a *acknowledged) add(name string, from, to int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.keys[name] == nil {
		a.keys[name] = make(map[int]bool)
	}
	for i := from; i < to; i++ {
		a.keys[name][i] = true
	}
}

func (a *acknowledged) check(t *testing.T, n *node) {
	t.Helper()
	for name, keys := range a.keys {
		var ds []umbel.Digest
		for k := range keys {
			ds = append(ds, digest(k))
		}
		wantKeys(t, n.Engine, []string{name}, ds)
	}
}

// Clients that change filters of their own, and together some that all of them have, find
// all that was acknowledged when the node is killed in the midst of that, again and again.
func TestKills(t *testing.T) {
	own := remembering(t)
	d := newDisk()
	d.files.Before(slowFiles)
	n := start(t, d, Options{})
	for _, kind := range shared {
		if _, _, err := n.Create(kind, kind, umbel.Goal{Keys: 2000, FPRate: .01}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := n.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	all := &acknowledged{keys: make(map[string]map[int]bool)}
	var clients []*client
	for i := range 8 {
		clients = append(clients, newClient(i, seed+1))
	}
	rounds := 12
	if testing.Short() {
		rounds = 3
	}
	for range rounds {
		var group sync.WaitGroup
		for _, c := range clients {
			group.Go(func() {
				for c.act(n, own, all) {
				}
			})
		}
		group.Go(func() {
			for n.Ready() == nil && n.Snapshot(context.Background()) == nil {
			}
		})
		time.Sleep(time.Duration(20+rng.IntN(150)) * time.Millisecond)
		if rng.IntN(2) == 0 {
			d.PowerCut()
		}
		n.kill()
		group.Wait()
		n = start(t, d, Options{})
		all.check(t, n)
		for _, c := range clients {
			c.check(t, n)
		}
		if t.Failed() {
			break
		}
	}
	n.end(t)
}

// A backup that is made while all goes on has what was acknowledged before it began, and what
// is restored of it gives no number twice.
func TestBackupsAmidChanges(t *testing.T) {
	own := remembering(t)
	d := newDisk()
	d.files.Before(slowFiles)
	n := start(t, d, Options{})
	for _, kind := range shared {
		if _, _, err := n.Create(kind, kind, umbel.Goal{Keys: 2000, FPRate: .01}, nil); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var group sync.WaitGroup
	all := &acknowledged{keys: make(map[string]map[int]bool)}
	for i := range 6 {
		c := newClient(i, 1)
		group.Go(func() {
			for ctx.Err() == nil && c.act(n, own, all) {
			}
		})
	}
	group.Go(func() {
		for ctx.Err() == nil && n.Snapshot(ctx) == nil {
		}
	})
	for range 6 {
		time.Sleep(30 * time.Millisecond)
		before := all.copy()
		last := n.Last()
		b := n.backup(t)
		e := newEngine()
		if _, err := backup.Verify(t.Context(), bytes.NewReader(b), e); err != nil {
			t.Fatal(err)
		}
		other := newDisk()
		restoreTo(t, other, b)
		again := start(t, other, Options{})
		before.check(t, again)
		wantSame(t, contents(again.Engine), contents(e))
		f, pos, err := again.Create("new", "bloom", umbel.Goal{Keys: 10, FPRate: .01}, nil)
		if !kept(again, pos, err) || pos <= last {
			t.Fatalf("position %d after a backup of %d, %v", pos, last, err)
		}
		again.ListAll(0, 1<<30, func(g *engine.Filter) bool {
			if g != f && g.ID() >= f.ID() {
				t.Errorf("the new filter has the number %d, and one that was there %d", f.ID(), g.ID())
			}
			return true
		})
		again.end(t)
	}
	stop()
	group.Wait()
	n.end(t)
}

func (a *acknowledged) copy() *acknowledged {
	a.mu.Lock()
	defer a.mu.Unlock()
	c := &acknowledged{keys: make(map[string]map[int]bool)}
	for name, keys := range a.keys {
		c.keys[name] = maps.Clone(keys)
	}
	return c
}

// A node that is killed before or after any step of a snapshot has all there was, and so has
// the next that makes one.
func TestKillsAtEachStepOfASnapshot(t *testing.T) {
	race.Skip(t, "varies damage and failures, in one goroutine")
	disk, _, _, _ := history(t, 2)
	for name, power := range map[string]bool{"kill": false, "power cut": true} {
		t.Run(name, func(t *testing.T) {
			for steps := int64(1); ; steps++ {
				d := disk.Clone()
				n := start(t, d, Options{})
				n.Delete([]byte("blocked"))
				n.Rename([]byte("counting"), []byte("renamed"), true)
				n.ListAll(0, 100, func(f *engine.Filter) bool {
					f.Add(nil, digests(5000, 5300))
					return true
				})
				if err := n.Sync(t.Context()); err != nil {
					t.Fatal(err)
				}
				want := contents(n.Engine)
				var step atomic.Int64
				count := func() {
					if step.Add(1) == steps {
						if power {
							d.PowerCut()
						} else {
							d.Kill()
						}
					}
				}
				d.Before(func(disktest.Op, string) error { count(); return nil })
				d.files.Before(func(disktest.Op, string) error { count(); return nil })
				err := n.Snapshot(t.Context())
				d.Before(nil)
				d.files.Before(nil)
				n.kill()
				var log lockedBuffer
				n = start(t, d, Options{Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))})
				wantSame(t, contents(n.Engine), want)
				if warned := log.String(); !power && warned != "" { // nothing is damaged
					t.Errorf("logged: %s", warned)
				}
				for i := range 2 {
					n.Create(fmt.Sprint("more", i), "bloom", umbel.Goal{Keys: 100, FPRate: .01}, nil)
					snap(t, n)
				}
				want = contents(n.Engine)
				n.kill()
				n = start(t, d, Options{})
				wantSame(t, contents(n.Engine), want)
				n.end(t)
				if t.Failed() {
					t.Fatalf("step %d: the snapshot that was killed: %v", steps, err)
				}
				if step.Load() < steps {
					t.Logf("%d steps", step.Load())
					break
				}
			}
		})
	}
}

// lockedBuffer is a log that several goroutines write.
type lockedBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lockedBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

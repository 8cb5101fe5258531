package sharedlog_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog"
	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog/mediumtest"
	"github.com/umbel-filters/umbel/internal/pause"
)

// faultsOfMedia are what a medium must never do.
var faultsOfMedia = map[string]func(w *world, yesterday *mediumtest.Memory, random *rand.Rand){
	"flipped": func(w *world, _ *mediumtest.Memory, random *rand.Rand) {
		w.change(random, func(b []byte) []byte {
			b[random.IntN(len(b))] ^= 1 << random.IntN(8)
			return b
		})
	},
	"truncated": func(w *world, _ *mediumtest.Memory, random *rand.Rand) {
		w.change(random, func(b []byte) []byte { return b[:random.IntN(len(b))] })
	},
	"deleted": func(w *world, _ *mediumtest.Memory, random *rand.Rand) {
		w.change(random, func([]byte) []byte { return nil })
	},
	"restored": func(w *world, yesterday *mediumtest.Memory, _ *rand.Rand) { w.medium.Restore(yesterday) },
}

// change changes an entry of the medium that members have not all read, if there is one, or any.
func (w *world) change(random *rand.Rand, edit func([]byte) []byte) {
	all, err := w.medium.List(context.Background(), "log/0")
	if err != nil || len(all) == 0 {
		return
	}
	key := all[max(0, len(all)-1-random.IntN(min(len(all), 100)))]
	b, err := w.medium.Get(context.Background(), key)
	if err != nil {
		return
	}
	if b = edit(b); b == nil {
		w.medium.Delete(context.Background(), key)
		return
	}
	w.medium.Set(key, b)
}

// A medium damages entries, loses some, or is restored from an older copy, while members run, are killed, and start
// from nothing. Then either nothing acknowledged is lost, or a member reports damage; and nobody applies a batch twice
// or in another order.
func TestDamage(t *testing.T) {
	for name, damage := range faultsOfMedia {
		t.Run(name, func(t *testing.T) {
			var reported, harmless atomic.Int64
			t.Run("all", func(t *testing.T) {
				for i := range (histories() + 3) / 4 {
					t.Run(strconv.Itoa(i), func(t *testing.T) {
						t.Parallel()
						w := simulateDamage(t, uint64(i), damage)
						for _, p := range w.problems[:min(len(w.problems), 3)] {
							t.Error(p)
						}
						if len(w.damaged) > 0 {
							reported.Add(1)
						} else {
							harmless.Add(1)
						}
					})
				}
			})
			t.Logf("reported in %d histories, harmless in %d", reported.Load(), harmless.Load())
			if reported.Load() < harmless.Load()/10 {
				t.Error("too little was damaged to show anything")
			}
		})
	}
}

// simulateDamage runs a history in which the medium is damaged once.
func simulateDamage(t *testing.T, seed uint64, damage func(*world, *mediumtest.Memory, *rand.Rand)) (w *world) {
	synctest.Test(t, func(t *testing.T) {
		var random *rand.Rand
		w, random = newWorld(seed)
		ctx, cancel := context.WithCancel(t.Context())
		var members sync.WaitGroup
		for _, m := range w.members {
			m.link.Set(calm)
			members.Go(func() { m.run(ctx) })
		}
		pause.For(ctx, 5*time.Second+time.Duration(random.Int64N(int64(10*time.Second))))
		yesterday := w.medium.Copy()
		pause.For(ctx, time.Second+time.Duration(random.Int64N(int64(10*time.Second))))
		if random.IntN(2) == 0 {
			w.members[random.IntN(3)].pause(false) // and so reads the damaged entry
		}
		pause.For(ctx, time.Second)
		damage(w, yesterday, random)
		pause.For(ctx, time.Second)
		w.heal()
		for range 3 {
			m := w.members[random.IntN(3)]
			m.mu.Lock()
			m.kill()
			m.mu.Unlock()
			pause.For(ctx, 5*time.Second)
		}
		cancel()
		members.Wait()
		final, err := w.read(t.Context())
		if err != nil && !isDamage(err) {
			w.fail("a new reader: %v", err)
		}
		if err != nil {
			w.damaged["reader"] = append(w.damaged["reader"], err.Error())
		}
		if len(w.damaged) == 0 {
			w.check(final)
		}
	})
	return w
}

// careless is a medium that ignores conditions, always or for values that are put at the same time.
type careless struct {
	*mediumtest.Memory
	always bool
}

func (c careless) Put(ctx context.Context, key string, data []byte) error {
	if !c.always {
		if _, err := c.Get(ctx, key); err == nil {
			return fmt.Errorf("%s: %w", key, sharedlog.ErrExists)
		}
		time.Sleep(time.Millisecond)
	}
	c.Set(key, data)
	return nil
}

// forgetful is a medium that does not do one thing.
type forgetful struct {
	*mediumtest.Memory
	lists, changes bool
}

func (f forgetful) List(ctx context.Context, prefix string) ([]string, error) {
	if f.lists {
		return nil, nil
	}
	return f.Memory.List(ctx, prefix)
}

func (f forgetful) Get(ctx context.Context, key string) ([]byte, error) {
	b, err := f.Memory.Get(ctx, key)
	if f.changes && err == nil {
		b = []byte(strings.ToUpper(string(b)) + "!")
	}
	return b, err
}

// A log is not opened on a medium that ignores conditions, that does not check them atomically, that lists late or returns
// other bytes.
func TestUnfit(t *testing.T) {
	for name, m := range map[string]sharedlog.Medium{
		"ignores conditions":     careless{new(mediumtest.Memory), true},
		"checks and then writes": careless{new(mediumtest.Memory), false},
		"lists late":             forgetful{Memory: new(mediumtest.Memory), lists: true},
		"returns other bytes":    forgetful{Memory: new(mediumtest.Memory), changes: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if _, err := sharedlog.Open(t.Context(), m, sharedlog.Position{}, sharedlog.Options{}); !errors.Is(err, sharedlog.ErrUnfit) {
					t.Errorf("Open: %v, want ErrUnfit", err)
				}
			})
		})
	}
}

// A medium with the log of another group, or with a log whose beginning is missing, is refused; so is a node whose
// entries the medium has lost.
func TestOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, other := new(mediumtest.Memory), new(mediumtest.Memory)
		d := claim(t, open(t, m, sharedlog.Position{}, ""))
		old := m.Copy()
		propose(t, d, "a", "b")
		commit(t, d, 2)
		at := d.Committed()
		d.Close()
		o := sharedlog.Options{Silence: 3 * time.Second, Settings: []byte("other")}
		if l, err := sharedlog.Open(t.Context(), other, sharedlog.Position{}, o); err != nil || l.Silence() != o.Silence || string(l.Settings()) != "other" {
			t.Fatal("the first member's settings are not those of the log", err)
		}
		if _, err := sharedlog.Open(t.Context(), other, at, sharedlog.Options{}); !errors.Is(err, sharedlog.ErrOtherGroup) {
			t.Errorf("the log of another group: %v", err)
		}
		if l, err := sharedlog.Open(t.Context(), m, at, o); err != nil || l.Silence() != sharedlog.DefaultSilence || len(l.Settings()) != 0 {
			t.Errorf("the settings are not those of the log: %v, %v, %q", err, l.Silence(), l.Settings())
		}
		l := open(t, old, at, "")
		if _, _, err := follow(t, l); !errors.Is(err, sharedlog.ErrRegressed) {
			t.Errorf("a node that has more than the log: %v, want ErrRegressed", err)
		}
		if _, err := l.Claim(t.Context()); !errors.Is(err, sharedlog.ErrRegressed) {
			t.Errorf("Claim of a node that has more than the log: %v, want ErrRegressed", err)
		}
		second := open(t, old, sharedlog.Position{}, "")
		if _, _, err := follow(t, second); !errors.Is(err, sharedlog.ErrSilent) {
			t.Fatal(err)
		}
		fork := claim(t, second)
		for i := range 60 {
			if i%20 == 0 {
				if _, _, err := follow(t, open(t, old, at, "")); !errors.Is(err, sharedlog.ErrRegressed) && !errors.Is(err, sharedlog.ErrFork) {
					t.Errorf("a node whose log was lost, and continued by another with %d batches: %v, want ErrRegressed or ErrFork", i, err)
				}
			}
			propose(t, fork, "c")
		}
		commit(t, fork, 60)
		m.Delete(t.Context(), sharedlog.EntryKey(1))
		if _, err := sharedlog.Open(t.Context(), m, sharedlog.Position{}, o); !errors.Is(err, sharedlog.ErrHole) {
			t.Errorf("a log without its beginning: %v, want ErrHole", err)
		}
	})
}

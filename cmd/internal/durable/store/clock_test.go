package store

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/snapfile"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/filter"
)

// A wall clock that jumps, forwards, backwards and before 1970, loses nothing but filters
// whose time was over by it once, and no start brings those back that were forgotten.
func TestClockJumps(t *testing.T) {
	for name, d := range map[string]Durability{"always": Always, "everysec": EverySec} {
		t.Run(name, func(t *testing.T) {
			n := startAt(t, newDisk(), Options{Durability: d})
			var mortals []*mortal
			for round := range 300 {
				m := &mortal{name: fmt.Sprint(round)}
				if round%3 > 0 {
					m.expires = n.now/2 + 25*year + rand.Int64N(year)
				}
				m.make(t, n)
				mortals = append(mortals, m)
				n.jump()
				if _, err := n.Sweep(10); err != nil {
					t.Fatal(err)
				}
				switch round % 10 {
				case 4:
					if err := n.Snapshot(t.Context()); err != nil {
						t.Fatal(err)
					}
				case 9:
					if err := n.Sync(t.Context()); err != nil {
						t.Fatal(err)
					}
					n.kill()
					was := n
					n = startAt(t, was.disk, Options{Durability: d})
					n.now, n.latest = was.now, was.latest
				}
				for _, m := range mortals {
					m.check(t, n)
				}
			}
			n.end(t)
		})
	}
}

const year = int64(365 * 24 * time.Hour / time.Millisecond)

// nodeAt is a node that lives by a clock of its own, in milliseconds since 1970.
type nodeAt struct {
	*node
	now, latest int64
}

func startAt(t *testing.T, disk *drive, o Options) *nodeAt {
	t.Helper()
	n := &nodeAt{now: 50 * year, latest: 50 * year}
	l, err := disk.Open()
	if err != nil {
		t.Fatal(err)
	}
	e := engine.New(engine.Options{Kinds: filter.All, Now: func() int64 { return n.now }})
	files, err := snapfile.Open(disk.files.Dir(), snapfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, report, err := Open(context.Background(), l, files, e, o)
	if err != nil {
		t.Fatal(err)
	}
	n.node = &node{s, e, disk, l, files, report}
	return n
}

func (n *nodeAt) jump() {
	jumps := []int64{0, 1, -1, -year, 40 * year, 50 * year, n.now + rand.Int64N(year), n.now - rand.Int64N(year)}
	if rand.IntN(1000) == 0 {
		jumps = append(jumps, math.MaxInt64/2)
	}
	n.now = jumps[rand.IntN(len(jumps))]
	n.latest = max(n.latest, n.now)
}

// mortal is a filter whose time may end.
type mortal struct {
	name    string
	expires int64 // 0: never
	over    bool  // it was forgotten
}

func (m *mortal) make(t *testing.T, n *nodeAt) {
	t.Helper()
	f, _, err := n.Create(m.name, "bloom", umbel.Goal{Keys: 100, FPRate: .001}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.Add(nil, digests(0, 10)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Expire(m.expires); err != nil {
		t.Fatal(err)
	}
}

func (m *mortal) check(t *testing.T, n *nodeAt) {
	t.Helper()
	f := n.Get([]byte(m.name))
	switch {
	case f != nil && m.over:
		t.Fatalf("filter %s was forgotten, and is back", m.name)
	case f != nil:
		has := make([]bool, 10)
		f.Has(has, digests(0, 10))
		if slices.Contains(has, false) {
			t.Fatalf("filter %s lacks keys: %v", m.name, has)
		}
	case m.expires == 0 || m.expires > n.latest:
		t.Fatalf("filter %s, which expires at %d, is gone, and it was never later than %d", m.name, m.expires, n.latest)
	case m.expires > n.now:
		m.over = true // or its time would not be over now
	}
}

// Keys of a window that follows the clock expire over restarts, also while the node is off, and no start brings
// them back.
func TestWindowOverRestarts(t *testing.T) {
	n := startAt(t, newDisk(), Options{Durability: Always})
	minute := umbel.Params{{Name: "window", Value: umbel.Uint(60)}}
	f, _, err := n.CreateWith("seen", "window", umbel.Goal{Keys: 1000, FPRate: .001}, minute, engine.CreateOptions{Tick: uint64(time.Second)})
	if err != nil {
		t.Fatal(err)
	}
	for round := range 9 {
		old, fresh := digests(2*round, 10), digests(2*round+1, 10)
		if _, _, err := f.Add(nil, old); err != nil {
			t.Fatal(err)
		}
		wait := func(d time.Duration) {
			n.now += d.Milliseconds()
			if err := n.FollowClock(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		restart := func(off time.Duration) {
			if round%3 == 0 {
				if err := n.Snapshot(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if err := n.Sync(t.Context()); err != nil {
				t.Fatal(err)
			}
			n.kill()
			was := n
			n = startAt(t, was.disk, Options{Durability: Always})
			n.now = was.now
			wait(off)
			f = n.Get([]byte("seen"))
		}
		want := func(moment string, present bool, ds []umbel.Digest) {
			t.Helper()
			has := make([]bool, len(ds))
			if err := f.Has(has, ds); err != nil || slices.Contains(has, !present) {
				t.Fatalf("round %d, %s: %v, error %v, want all %v", round, moment, has, err, present)
			}
		}
		restart(59 * time.Second)
		want("after 59 s", true, old)
		if _, _, err := f.Add(nil, fresh); err != nil {
			t.Fatal(err)
		}
		wait(50 * time.Second)
		want("50 s after they were added", true, fresh)
		if round%2 == 0 {
			restart(5 * time.Minute)
		} else {
			wait(5 * time.Minute)
		}
		want("after minutes", false, slices.Concat(old, fresh))
		restart(0)
		want("after another start", false, slices.Concat(old, fresh))
	}
	n.end(t)
}

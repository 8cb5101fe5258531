package store

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/disk/disktest"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/engine/operation"
	"pgregory.net/rapid"
)

// step is something done to an engine: it returns the position of the change.
type step struct {
	what string
	do   func(e *engine.Engine) engine.Position
	at   engine.Position // where the node had it; 0 if it changed nothing
}

// drawStep draws what is done next.
func drawStep(t *rapid.T, kinds []string) step {
	names := []string{"a", "b", "c", "d"}
	name := rapid.SampledFrom(names).Draw(t, "name")
	other := rapid.SampledFrom(names).Draw(t, "other")
	number := rapid.Uint64Range(1, 4).Draw(t, "number")
	kind := rapid.SampledFrom(kinds).Draw(t, "kind")
	from := rapid.IntRange(0, 500).Draw(t, "from")
	ds := digests(from, from+rapid.IntRange(1, 100).Draw(t, "count"))
	with := func(what string, do func(f *engine.Filter) engine.Position) step {
		return step{what: what + " " + name, do: func(e *engine.Engine) engine.Position {
			f := e.Get([]byte(name))
			if f == nil {
				return 0
			}
			return do(f)
		}}
	}
	adding := with("add", func(f *engine.Filter) engine.Position {
		_, pos, _ := f.Add(nil, ds)
		return pos
	})
	return rapid.SampledFrom([]step{
		adding, adding, adding, adding,
		{what: "create " + name + " " + kind, do: func(e *engine.Engine) engine.Position {
			_, pos, _ := e.Create(name, kind, umbel.Goal{Keys: 100 * number, FPRate: .01}, nil)
			return pos
		}},
		{what: "delete " + name, do: func(e *engine.Engine) engine.Position {
			_, pos, _ := e.Delete([]byte(name))
			return pos
		}},
		{what: fmt.Sprint("rename ", name, " to ", other), do: func(e *engine.Engine) engine.Position {
			pos, _ := e.Rename([]byte(name), []byte(other), true)
			return pos
		}},
		{what: fmt.Sprint("copy ", name, " to ", other), do: func(e *engine.Engine) engine.Position {
			pos, _ := e.Copy([]byte(name), []byte(other), number%2 == 0)
			return pos
		}},
		with("remove", func(f *engine.Filter) engine.Position {
			pos, _ := f.Remove(make([]bool, len(ds)), ds)
			return pos
		}),
		with("clear", func(f *engine.Filter) engine.Position { pos, _ := f.Do(operation.Clear, umbel.Number{}); return pos }),
		with("fold", func(f *engine.Filter) engine.Position { pos, _ := f.Do(operation.Fold, umbel.Uint(number)); return pos }),
		with("unfold", func(f *engine.Filter) engine.Position {
			pos, _ := f.Do(operation.Unfold, umbel.Uint(number))
			return pos
		}),
		with("advance", func(f *engine.Filter) engine.Position {
			pos, _ := f.Do(operation.Advance, umbel.Uint(number))
			return pos
		}),
		with("seal", func(f *engine.Filter) engine.Position { pos, _ := f.Do(operation.Seal, umbel.Number{}); return pos }),
		with("expire", func(f *engine.Filter) engine.Position { pos, _ := f.Expire(int64(number) << 40); return pos }),
		with("update", func(f *engine.Filter) engine.Position {
			pos, _ := f.Update(func(g umbel.Filter) (umbel.Filter, error) { return g, nil })
			return pos
		}),
		{what: "flush", do: func(e *engine.Engine) engine.Position { pos, _ := e.Flush(); return pos }},
	}).Draw(t, "step")
}

// A node that is killed at any moment, with snapshots at any moment, has all that it
// acknowledged, and is what it was after some change that isn't before that.
func TestCrashes(t *testing.T) {
	all := kinds(t, 100)
	rapid.Check(t, func(t *rapid.T) {
		o := Options{Durability: rapid.SampledFrom([]Durability{Always, EverySec}).Draw(t, "durability")}
		disk := newDisk()
		disk.files.Before(slowFiles)
		n := start(t, disk, o)
		var done []step
		acknowledged := engine.Position(0)
		var snapshots sync.WaitGroup
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 19).Draw(t, "what") {
			case 0, 1:
				if rapid.Bool().Draw(t, "beside") {
					store := n.Store
					snapshots.Go(func() { store.Snapshot(context.Background()) })
				} else if err := n.Snapshot(context.Background()); err != nil {
					t.Fatalf("snapshot: %v", err)
				}
			case 2, 3:
				if err := n.Sync(context.Background()); err != nil {
					t.Fatalf("sync: %v", err)
				}
				acknowledged = n.Last()
			case 4:
				switch rapid.SampledFrom([]string{"kill", "power cut", "end"}).Draw(t, "end") {
				case "end":
					snapshots.Wait()
					n.end(t)
					acknowledged = n.Last()
				case "power cut":
					n.disk.PowerCut()
					fallthrough
				default:
					n.kill()
				}
				snapshots.Wait()
				n = start(t, n.disk, o)
				done = checkAgainst(t, n, done, acknowledged)
			default:
				s := drawStep(t, all)
				before := n.Last()
				s.do(n.Engine)
				if s.at = n.Last(); s.at != before {
					done = append(done, s)
				}
			}
		}
		n.kill()
		snapshots.Wait()
		n = start(t, n.disk, o)
		checkAgainst(t, n, done, acknowledged)
		n.end(t)
	})
}

// slowFiles leaves time for other things to happen during snapshots.
func slowFiles(op disktest.Op, _ string) error {
	if op == disktest.Write {
		time.Sleep(100 * time.Microsecond)
	}
	return nil
}

// checkAgainst compares a node with an engine that did as many of the steps, and returns those.
func checkAgainst(t *rapid.T, n *node, done []step, acknowledged engine.Position) []step {
	t.Helper()
	if n.Last() < acknowledged {
		t.Fatalf("changes up to %d are there, and %d were acknowledged", n.Last(), acknowledged)
	}
	model := newEngine()
	for i, s := range done {
		if s.at > n.Last() {
			done = done[:i]
			break
		}
		s.do(model)
	}
	wantSame(t, contents(n.Engine), contents(model))
	return done
}

// After any loss of a log, a user who acknowledges it can go on, and no present filter has lost
// a key.
func TestAcceptedLosses(t *testing.T) {
	all := kinds(t, 100)
	keys := digests(0, 600)
	rapid.Check(t, func(t *rapid.T) {
		disk := newDisk()
		disk.files.Before(slowFiles)
		n := start(t, disk, Options{})
		var snapshots sync.WaitGroup
		for range rapid.IntRange(10, 80).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0, 1:
				if rapid.Bool().Draw(t, "beside") {
					snapshots.Go(func() { n.Snapshot(context.Background()) })
				} else if err := n.Snapshot(context.Background()); err != nil {
					t.Fatalf("snapshot: %v", err)
				}
			case 2, 3:
				if err := n.Sync(context.Background()); err != nil {
					t.Fatalf("sync: %v", err)
				}
			default:
				drawStep(t, all).do(n.Engine)
			}
		}
		snapshots.Wait()
		if err := n.Sync(context.Background()); err != nil {
			t.Fatalf("sync: %v", err)
		}
		was := n.Engine
		n.kill()
		for range rapid.IntRange(1, 4).Draw(t, "losses") {
			if rapid.IntRange(0, 2).Draw(t, "what") == 0 {
				if files := disk.files.Names(); len(files) > 0 {
					disk.files.Lose(rapid.SampledFrom(files).Draw(t, "file"))
				}
				continue
			}
			if numbers := disk.Numbers(); len(numbers) > 0 {
				disk.Lose(rapid.SampledFrom(numbers).Draw(t, "lost"))
			}
		}
		n, err := tryStart(disk, Options{AcceptLoss: true})
		if err != nil {
			t.Fatalf("with losses accepted: %v", err)
		}
		if len(n.report.Lost) == 0 {
			wantSame(t, contents(n.Engine), contents(was))
		}
		wantNoKeyLost(t, n.Engine, was, keys)
		// Two snapshots later the loss is no longer in the way.
		n.Snapshot(context.Background())
		drawStep(t, all).do(n.Engine)
		n.Snapshot(context.Background())
		want := contents(n.Engine)
		n.end(t)
		if n, err = tryStart(disk, Options{}); err != nil {
			t.Fatalf("after losses were accepted: %v", err)
		}
		wantSame(t, contents(n.Engine), want)
		n.end(t)
	})
}

// wantNoKeyLost checks that filters which are in two engines have, in the first, all the keys
// that they have in the second.
func wantNoKeyLost(t *rapid.T, e, was *engine.Engine, keys []umbel.Digest) {
	t.Helper()
	had, has := make([]bool, len(keys)), make([]bool, len(keys))
	before := make(map[uint64]*engine.Filter)
	was.ListAll(0, 1<<30, func(f *engine.Filter) bool { before[f.ID()] = f; return true })
	e.ListAll(0, 1<<30, func(f *engine.Filter) bool {
		g := before[f.ID()]
		if g == nil {
			return true
		}
		g.Has(had, keys)
		f.Has(has, keys)
		for i := range keys {
			if had[i] && !has[i] {
				t.Fatalf("%s filter %q (hidden: %v) has lost key %d", f.Kind(), f.Name(), f.Incomplete(), i)
			}
		}
		return true
	})
}

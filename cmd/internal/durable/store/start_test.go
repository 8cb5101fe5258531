package store

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/disk/disktest"
	"github.com/umbel-filters/umbel/cmd/internal/durable/snapfile"
	"github.com/umbel-filters/umbel/cmd/internal/durable/wal"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/internal/race"
)

// startOn starts a node on what a disk has, with an engine of the test's own.
func startOn(t *testing.T, d *drive, o Options, with engine.Options) *node {
	t.Helper()
	l, err := d.Open()
	if err != nil {
		t.Fatal(err)
	}
	with.Kinds = filter.All
	e := engine.New(with)
	files, err := snapfile.Open(d.files.Dir(), snapfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, report, err := Open(t.Context(), l, files, e, o)
	if err != nil {
		t.Fatalf("start: %v", errors.Join(err, l.Close()))
	}
	return &node{s, e, d, l, files, report}
}

// atPiece calls do when the nth piece from now on is written.
func atPiece(d *drive, n int64, do func()) {
	var count atomic.Int64
	d.files.Before(func(op disktest.Op, name string) error {
		if op == disktest.Write && strings.HasPrefix(name, "piece-") && count.Add(1) == n {
			do()
		}
		return nil
	})
}

// A snapshot has filters that were never there together: all that there was within the limit
// of memory is there again.
func TestStartWithinTheLimitOfMemory(t *testing.T) {
	race.Skip(t, "uses much memory")
	goal := umbel.Goal{Bytes: 2 << 20, FPRate: .01}
	within := engine.Options{MaxMemory: 5 << 20}
	d := newDisk()
	n := startOn(t, d, Options{}, within)
	for _, name := range []string{"a", "b"} {
		f, _, err := n.Create(name, "bloom", goal, nil)
		if err != nil {
			t.Fatal(err)
		}
		f.Add(nil, digests(0, 100_000))
	}
	for i := range 300 { // a snapshot looks what there is a few hundred at a time
		if _, _, err := n.Create(fmt.Sprint(i), "bloom", umbel.Goal{Keys: 10, FPRate: .01}, nil); err != nil {
			t.Fatal(err)
		}
	}
	atPiece(d, 3, func() { // "a" is copied, "b" is being copied, "c" is still to be
		if _, _, err := n.Delete([]byte("a")); err != nil {
			t.Error(err)
		}
		g, _, err := n.Create("c", "bloom", goal, nil)
		if err != nil {
			t.Error(err)
			return
		}
		g.Add(nil, digests(0, 1000))
	})
	snap(t, n)
	if err := n.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := contents(n.Engine)
	n.kill()
	n = startOn(t, d, Options{}, within)
	wantSame(t, contents(n.Engine), want)
	if used, limit := n.Memory(); used > limit {
		t.Errorf("%d bytes are taken, with a limit of %d", used, limit)
	}
	n.end(t)
}

// A filter whose time is over when a snapshot is made may come to have time again: the clock
// is put back, or somebody who has it already gives it more. It is kept like others.
func TestFiltersWhoseTimeIsOver(t *testing.T) {
	var now atomic.Int64
	clock := engine.Options{Now: now.Load}
	for name, o := range map[string]Options{"always": {}, "none": {Durability: None}} {
		t.Run(name, func(t *testing.T) {
			now.Store(100)
			d := newDisk()
			n := startOn(t, d, o, clock)
			f, _, err := n.Create("a", "bloom", umbel.Goal{Keys: 1000, FPRate: .01}, nil)
			if err != nil {
				t.Fatal(err)
			}
			f.Add(nil, digests(0, 100))
			if _, err := f.Expire(150); err != nil {
				t.Fatal(err)
			}
			now.Store(200)
			if n.Get([]byte("a")) != nil {
				t.Fatal("its time isn't over")
			}
			for range 2 {
				n.Create("b", "bloom", umbel.Goal{Keys: 1000, FPRate: .01}, nil)
				snap(t, n)
				n.Delete([]byte("b"))
			}
			now.Store(120)
			wantKeys(t, n.Engine, []string{"a"}, digests(0, 100))
			n.Sync(t.Context())
			n.kill()
			n = startOn(t, d, o, clock)
			wantKeys(t, n.Engine, []string{"a"}, digests(0, 100))
			n.end(t)
		})
	}
}

// A disk that doesn't answer has lost nothing: a start fails, and no filter is taken for lost,
// though losses were accepted.
func TestDiskThatDoesNotAnswer(t *testing.T) {
	race.Skip(t, "varies damage and failures, in one goroutine")
	d, _, _, want := history(t, 2)
	silent := errors.New("nobody answers")
	for _, o := range []Options{{}, {AcceptLoss: true}} {
		for nth := range 30 {
			c := d.Clone()
			var n atomic.Int64
			c.files.Before(func(op disktest.Op, _ string) error {
				if op == disktest.Read && int(n.Add(1)) > nth {
					return silent
				}
				return nil
			})
			node, err := tryStart(c, o)
			switch {
			case err == nil:
				if len(node.report.Lost) > 0 {
					t.Errorf("lost: %q", node.report.Lost)
				}
				wantSame(t, contents(node.Engine), want)
				node.end(t)
			case !errors.Is(err, silent) || errors.Is(err, ErrLost) || errors.Is(err, umbel.ErrCorrupt):
				t.Errorf("%v", err)
			}
		}
	}
}

// If the batch with the last change of a name is lost, an operator can accept the loss: the filter
// that had the name last has it.
func TestNamesInALostBatch(t *testing.T) {
	race.Skip(t, "varies damage and failures, in one goroutine")
	goal := umbel.Goal{Bytes: 1 << 20, FPRate: .01}
	for name, take := range map[string]func(n *node) error{
		"renamed": func(n *node) error {
			if _, err := n.Rename([]byte("a"), []byte("away"), true); err != nil {
				return err
			}
			_, err := n.Rename([]byte("b"), []byte("a"), true)
			return err
		},
		"replaced": func(n *node) error { _, err := n.Rename([]byte("b"), []byte("a"), true); return err },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDisk()
			n := start(t, d, Options{})
			for _, name := range []string{"a", "b"} {
				f, _, err := n.Create(name, "bloom", goal, nil)
				if err != nil {
					t.Fatal(err)
				}
				f.Add(nil, digests(0, 100_000))
			}
			n.Sync(t.Context())
			_, before := n.log.Bounds()
			atPiece(d, 2, func() { // "a" is copied, "b" is being copied
				if err := take(n); err != nil {
					t.Error(err)
				}
				n.Sync(t.Context())
			})
			snap(t, n)
			n.Get([]byte("a")).Add(nil, digests(200_000, 200_100))
			n.Sync(t.Context())
			n.kill()
			d.files.Before(nil)
			d.Lose(before + 1)
			if _, err := tryStart(d, Options{}); !errors.Is(err, wal.ErrHole) {
				t.Errorf("with a batch lost: %v", err)
			}
			n, err := tryStart(d, Options{AcceptLoss: true})
			if err != nil {
				t.Fatalf("with losses accepted: %v", err)
			}
			t.Logf("lost: %q", n.report.Lost)
			wantKeys(t, n.Engine, []string{"a"}, append(digests(0, 100_000), digests(200_000, 200_100)...))
			snap(t, n)
			n.Get([]byte("a")).Add(nil, digests(300_000, 300_100))
			snap(t, n)
			n.end(t)
			n, err = tryStart(d, Options{})
			if err != nil {
				t.Fatalf("after that: %v", err)
			}
			n.end(t)
		})
	}
}

package recovery_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/disk/disktest"
	"github.com/umbel-filters/umbel/cmd/internal/durable/journal"
	"github.com/umbel-filters/umbel/cmd/internal/durable/recovery"
	"github.com/umbel-filters/umbel/cmd/internal/durable/snapfile"
	"github.com/umbel-filters/umbel/cmd/internal/durable/snapshot"
	"github.com/umbel-filters/umbel/cmd/internal/durable/wal"
	"github.com/umbel-filters/umbel/cmd/internal/durable/wal/waltest"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/filter"
)

// world is a data directory in memory and the process that writes it.
type world struct {
	*testing.T
	log   *waltest.Disk
	files *disktest.Disk

	logged  bool
	check   bool // recoveries read everything
	engine  *engine.Engine
	journal *journal.Journal
	taker   *snapshot.Taker
	open    *wal.Log
}

// newWorld starts a process in an empty directory. Without a log, only snapshots keep its changes.
func newWorld(t *testing.T, logged bool) *world {
	t.Helper()
	w := &world{T: t, log: waltest.NewDisk(), files: disktest.NewDisk(), logged: logged, engine: newEngine()}
	l, err := w.log.Open()
	if err != nil {
		t.Fatal(err)
	}
	files, err := snapfile.Open(w.files.Dir(), snapfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	quiet := slog.New(slog.DiscardHandler)
	durability := journal.Always
	if !logged {
		durability = journal.None
	}
	w.open, w.journal = l, journal.New(l, 0, 0, journal.Options{Durability: durability, Log: quiet})
	w.taker = snapshot.New(files, l, w.journal, w.engine, snapshot.Set{}, snapshot.Options{Logged: logged, Log: quiet})
	w.engine.SetJournal(w.journal)
	ctx, stop := context.WithCancel(context.Background())
	var runs sync.WaitGroup
	runs.Go(func() { w.journal.Run(ctx) })
	t.Cleanup(func() {
		w.journal.Close()
		stop()
		runs.Wait()
		l.Close()
	})
	return w
}

func newEngine() *engine.Engine { return engine.New(engine.Options{Kinds: filter.All}) }

// create makes a filter with many keys, of several segments.
func (w *world) create(name string) *engine.Filter {
	w.Helper()
	f, _, err := w.engine.Create(name, "bloom", umbel.Goal{Bytes: 1 << 20, FPRate: .01}, nil)
	if err != nil {
		w.Fatal(err)
	}
	w.add(name, 0, 50_000)
	return f
}

// add adds keys and returns the number of the batch with them.
func (w *world) add(name string, from, to int) uint64 {
	w.Helper()
	if _, _, err := w.engine.Get([]byte(name)).Add(nil, keys(from, to)); err != nil {
		w.Fatal(err)
	}
	if w.logged {
		if err := w.journal.Sync(w.Context(), w.journal.Last()); err != nil {
			w.Fatal(err)
		}
	}
	_, last := w.open.Bounds()
	return last
}

// snap takes a snapshot. during, unless it is nil, runs when the first piece is written.
func (w *world) snap(during func()) {
	w.Helper()
	var once sync.Once
	w.files.Before(func(op disktest.Op, name string) error {
		if op == disktest.Write && strings.HasPrefix(name, "piece-") && during != nil {
			once.Do(during)
		}
		return nil
	})
	defer w.files.Before(nil)
	if err := w.taker.Take(w.Context()); err != nil {
		w.Fatal(err)
	}
}

// pieces returns the names of all pieces.
func (w *world) pieces() []string {
	return slices.DeleteFunc(w.files.Names(), func(name string) bool { return !strings.HasPrefix(name, "piece-") })
}

// recovered is what a recovery made of a directory.
type recovered struct {
	*engine.Engine
	recovery.Result
	log string // what it logged
}

// recover starts another process.
func (w *world) recover(acceptLoss bool) (recovered, error) {
	w.Helper()
	l, err := w.log.Open()
	if err != nil {
		w.Fatal(err)
	}
	defer l.Close()
	files, err := snapfile.Open(w.files.Dir(), snapfile.Options{})
	if err != nil {
		w.Fatal(err)
	}
	var log strings.Builder
	r := recovered{Engine: newEngine()}
	r.Result, err = recovery.Run(w.Context(), l, files, r.Engine, recovery.Options{AcceptLoss: acceptLoss, Check: w.check, Log: slog.New(slog.NewTextHandler(&log, nil))})
	r.log = log.String()
	return r, err
}

// wantLost demands that a recovery fails without acceptance of the loss, and that with it exactly the
// filters with these names have lost data. All others of names must have the keys that they had.
func (w *world) wantLost(names []string, lost ...string) recovered {
	w.Helper()
	if _, err := w.recover(false); !errors.Is(err, recovery.ErrLost) {
		w.Errorf("error %v, want %v", err, recovery.ErrLost)
	}
	r, err := w.recover(true)
	if err != nil {
		w.Fatal(err)
	}
	if got := r.LostNames(100); !slices.Equal(got, lost) || r.Report.Incomplete != len(lost) || !slices.Equal(r.Report.IncompleteNames, lost) {
		w.Errorf("lost data: %q, reported %d: %q; want %q", got, r.Report.Incomplete, r.Report.IncompleteNames, lost)
	}
	if len(r.Report.Lost) == 0 || !r.Damaged {
		w.Errorf("losses %q, damaged %v", r.Report.Lost, r.Damaged)
	}
	w.wantKeys(r, names...)
	return r
}

// wantWhole demands that a recovery that accepts no loss finds everything.
func (w *world) wantWhole(names ...string) recovered {
	w.Helper()
	r, err := w.recover(false)
	if err != nil {
		w.Fatal(err)
	}
	w.wantKeys(r, names...)
	if n := r.LostLen(); n != 0 || len(r.Report.Lost) != 0 {
		w.Errorf("%d filters lost data: %q", n, r.Report.Lost)
	}
	return r
}

// wantKeys demands that filters have all keys that they had, and as many cells if they lost nothing.
func (w *world) wantKeys(r recovered, names ...string) {
	w.Helper()
	if r.Len() != len(names) {
		w.Errorf("%d filters, want %q", r.Len(), names)
	}
	all := keys(0, 60_000)
	was, is := make([]bool, len(all)), make([]bool, len(all))
	for _, name := range names {
		f := r.Get([]byte(name))
		if f == nil {
			w.Errorf("filter %q is gone", name)
			continue
		}
		w.engine.Get([]byte(name)).Has(was, all)
		f.Has(is, all)
		for i := range all {
			if was[i] && !is[i] || !f.Lost() && was[i] != is[i] {
				w.Errorf("filter %q: key %d: %v, was %v", name, i, is[i], was[i])
				break
			}
		}
	}
}

func keys(from, to int) []umbel.Digest {
	ds := make([]umbel.Digest, 0, to-from)
	for i := from; i < to; i++ {
		ds = append(ds, umbel.Hasher{}.HashString(fmt.Sprint(i)))
	}
	return ds
}

// newPiece returns the first piece that is not one of old.
func (w *world) newPiece(old []string) string {
	w.Helper()
	for _, name := range w.pieces() {
		if !slices.Contains(old, name) {
			return name
		}
	}
	w.Fatal("no piece was written")
	return ""
}

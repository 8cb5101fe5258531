package live_test

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/internal/race"
	"github.com/umbel-filters/umbel/live"
	"github.com/umbel-filters/umbel/wire"
)

var small = umbel.Goal{Keys: 2000, FPRate: 0.01}

// inFile returns the filter in a file.
func inFile(t testing.TB, path string) umbel.Filter {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	s, err := wire.Parse(b, wire.Limits{})
	must(t, err)
	f, err := filter.All.Open(s)
	must(t, err)
	return f
}

// A save happens at most Every after a change, after Changes changes, and otherwise not. The model counts the changes one by
// one and looks at the clock after each step.
func TestSavesByTimeAndChanges(t *testing.T) {
	race.Skip(t, "simulates a long time, in one goroutine")
	for trial := range trials(t, 8) {
		each(t, fmt.Sprint(trial), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(trial), 3))
			o := live.Options{Every: []time.Duration{-1, time.Minute}[rng.IntN(2)], Changes: []uint64{0, 1, 50}[rng.IntN(3)]}
			path := filepath.Join(t.TempDir(), "filter.umb")
			f := open(t, path, counting.Kind, small, o) // each addition is a change
			saved, n := uint64(0), uint64(0)
			begin := time.Now()
			for range 40 {
				if rng.IntN(3) > 0 {
					for range 1 + rng.Uint64N(40) {
						f.Add(digest(n))
						n++
						synctest.Wait()
						if o.Changes > 0 && n-saved >= o.Changes {
							saved = n
						}
					}
				} else {
					before := time.Since(begin) / time.Minute
					time.Sleep(time.Duration(1 + rng.Int64N(int64(90*time.Second))))
					synctest.Wait()
					if o.Every > 0 && time.Since(begin)/time.Minute > before {
						saved = n
					}
				}
				if got := f.Status(); got.Unsaved != n-saved || got.Err != nil {
					t.Fatalf("%+v: %d changes are not saved, want %d of %d (%v)", o, got.Unsaved, n-saved, n, got.Err)
				}
				in := inFile(t, path)
				for i := range n {
					if i < saved && !in.Has(digest(i)) {
						t.Fatalf("%+v: key %d of %d that are saved is missing in the file", o, i, saved)
					}
				}
				if saved == 0 && in.Stats().Fill > 0 {
					t.Fatalf("%+v: the file was written without a reason", o)
				}
			}
			must(t, f.Close())
			in := inFile(t, path)
			for i := range n {
				if !in.Has(digest(i)) {
					t.Fatalf("%+v: key %d is missing after Close", o, i)
				}
			}
		})
	}
}

// events counts the messages of a logger.
type events struct {
	mu sync.Mutex
	n  map[string]int
}

func (e *events) Write(b []byte) (int, error) {
	_, text, _ := strings.Cut(string(b), `msg="`)
	text, _, _ = strings.Cut(text, `"`)
	e.add(text)
	return len(b), nil
}

func (e *events) add(text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.n == nil {
		e.n = map[string]int{}
	}
	e.n[text]++
}

func (e *events) count(text string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.n[text]
}

func (e *events) logger() *slog.Logger { return slog.New(slog.NewTextHandler(e, nil)) }

// While saves fail, the file stays, the error is kept, it is reported when it begins and logged once a minute, and additions
// are not lost: they are saved when that is possible again.
func TestFaultsOfSaves(t *testing.T) {
	each(t, "", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "dir")
		must(t, os.Mkdir(dir, 0o777))
		path, log := filepath.Join(dir, "filter.umb"), &events{}
		f := open(t, path, bloom.Kind, small, live.Options{
			Every: 10 * time.Second, Log: log.logger(), OnError: func(err error) { log.add(fmt.Sprint("reported ", errors.Is(err, fs.ErrNotExist))) },
		})
		f.AddString("a")
		must(t, f.Save())
		for fault := range 2 {
			must(t, os.Rename(dir, dir+"2")) // so that no file can be made there
			key := fmt.Sprint("during fault ", fault)
			f.AddString(key)
			time.Sleep(3*time.Minute + time.Second)
			synctest.Wait()
			if s := f.Status(); !errors.Is(s.Err, fs.ErrNotExist) || s.Unsaved != 1 {
				t.Errorf("during fault %d: %d unsaved, %v", fault, s.Unsaved, s.Err)
			}
			if err := f.Save(); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("Save during fault %d: %v", fault, err)
			}
			if n, other := log.count("reported true"), log.count("reported false"); n != fault+1 || other != 0 {
				t.Errorf("during fault %d: reported %d times, and another error %d times", fault, n, other)
			}
			if got, want := log.count("filter is not saved"), 3*(fault+1); got != want {
				t.Errorf("during fault %d of 3 minutes: %d messages, want %d", fault, got, want)
			}
			in := inFile(t, filepath.Join(dir+"2", "filter.umb"))
			if h := in.Hasher(); !in.Has(h.HashString("a")) || in.Has(h.HashString(key)) {
				t.Error("the file changed during a fault")
			}
			must(t, os.Rename(dir+"2", dir))
			time.Sleep(10 * time.Second)
			synctest.Wait()
			if s := f.Status(); s.Err != nil || s.Unsaved != 0 || log.count("filter is saved again") != fault+1 {
				t.Errorf("after fault %d: %d unsaved, %v, %v", fault, s.Unsaved, s.Err, log.n)
			}
			if in := inFile(t, path); !in.Has(in.Hasher().HashString(key)) {
				t.Errorf("the key that was added during fault %d is missing", fault)
			}
		}
		f.AddString("b")
		must(t, os.Rename(dir, dir+"2"))
		if err := f.Close(); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Close on a fault: %v", err)
		}
		must(t, os.Rename(dir+"2", dir))
		if again := f.Close(); !errors.Is(again, fs.ErrNotExist) {
			t.Errorf("Close again: %v", again)
		}
		if err := f.Save(); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("Save after Close: %v", err)
		}
		must(t, open(t, path, bloom.Kind, small, live.Options{}).Close())
	})
}

// OnOverfull is called once, about when the rate of the filter exceeds twice the planned one, and once more after a restart.
func TestOverfull(t *testing.T) {
	for _, kind := range filter.All {
		each(t, kind.Name, func(t *testing.T) {
			g := umbel.Goal{Keys: 20_000, FPRate: 0.001}
			calls := 0
			var at live.Status
			o := idle(kind)
			o.OnOverfull = func(s live.Status) { calls++; at = s }
			path := filepath.Join(t.TempDir(), "filter.umb")
			f := open(t, path, kind, g, o)
			first := uint64(0) // keys with which an exact measurement finds it overfull
			for i := range uint64(600) {
				for j := range uint64(100) {
					f.Add(digest(100*i + j))
				}
				synctest.Wait()
				exact, err := kind.Open(f.State())
				must(t, err)
				if first == 0 && f.Status().Planned.Exceeded(exact.Stats().FPRate) {
					first = 100 * (i + 1)
				}
				if calls > 0 {
					break
				}
			}
			late := 1.05
			if !slices.Contains(random, kind.Name) {
				late = 1.15 // it is measured when it has an eighth more keys
			}
			switch {
			case first == 0 && calls == 0: // it grows, or has few false positives in any case
			case calls != 1 || !at.Overfull || at.Keys < 0.97*float64(first) || at.Keys > late*float64(first)+100:
				t.Fatalf("%d calls, the last with %.0f keys; it is overfull from %d keys on", calls, at.Keys, first)
			}
			for i := range uint64(5000) {
				f.Add(digest(1<<40 + i))
			}
			must(t, f.Save())
			must(t, f.Close())
			if want := min(first, 1); uint64(calls) != want {
				t.Errorf("%d calls, want %d", calls, want)
			}
			must(t, open(t, path, kind, g, o).Close())
			if want := 2 * min(first, 1); uint64(calls) != want {
				t.Errorf("%d calls after a restart, want %d", calls, want)
			}
		})
	}
}

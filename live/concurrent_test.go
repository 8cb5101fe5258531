package live_test

import (
	"fmt"
	"io"
	"log/slog"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/live"
)

// All methods may be called concurrently. No key is missing then, in memory, in a copy and in the file, and the numbers are
// about those of a copy, in filters in which each change is counted and in those in which one of 16 is.
func TestConcurrent(t *testing.T) {
	for _, kind := range filter.All {
		for _, keys := range []uint64{4000, 70_000} {
			t.Run(fmt.Sprintf("%s/%d", kind.Name, keys), func(t *testing.T) {
				const goroutines = 4
				g := umbel.Goal{Keys: keys, FPRate: 0.001}
				path := filepath.Join(t.TempDir(), "filter.umb")
				o := idle(kind)
				o.Every, o.Changes, o.Log = 50*time.Millisecond, keys/4, slog.New(slog.NewTextHandler(io.Discard, nil))
				f := open(t, path, kind, g, o)
				each := keys / goroutines
				var all sync.WaitGroup
				for part := range uint64(goroutines) {
					all.Go(func() {
						rng := rand.New(rand.NewPCG(part, keys))
						for i := range each {
							d := digest(part*each + i)
							if i%2 == 0 {
								f.Add(d)
							} else {
								f.Seen(d, time.Now())
							}
							if e := digest(part*each + rng.Uint64N(i+1)); !f.Has(d) || !f.Has(e) {
								t.Error("a key is missing")
								return
							}
							switch rng.Uint64N(each) {
							case 0, 1, 2:
								if err := f.Save(); err != nil {
									t.Error(err)
								}
							case 3, 4, 5:
								_ = fmt.Sprint(f.Status(), f, f.LogValue())
							case 6:
								s := f.State()
								if copied, err := kind.Open(s); err != nil || !copied.Has(d) {
									t.Errorf("a copy lacks a key: %v", err)
								}
							case 7:
								f.Count(d)
							}
						}
					})
				}
				all.Wait()
				exact, err := kind.Open(f.State())
				must(t, err)
				got, want := f.Stats(), exact.Stats()
				if math.Abs(got.Keys-want.Keys) > 0.05*want.Keys+2*(want.High-want.Low) {
					t.Errorf("%.0f keys, a copy has %.0f", got.Keys, want.Keys)
				}
				if slices.Contains(random, kind.Name) && math.Abs(got.Fill-want.Fill) > 0.05*want.Fill {
					t.Errorf("fill ratio %.4f, a copy has %.4f", got.Fill, want.Fill)
				}
				must(t, f.Close())
				in := inFile(t, path)
				for i := range goroutines * each {
					if !in.Has(digest(i)) {
						t.Fatal("a key is missing in the file")
					}
				}
			})
		}
	}
}

// To close a filter while it is used is no fault, and to close it twice neither.
func TestCloseWhileUsed(t *testing.T) {
	kind := filter.All[0]
	path := filepath.Join(t.TempDir(), "filter.umb")
	f := open(t, path, kind, small, live.Options{Changes: 10})
	var begun, all sync.WaitGroup
	begun.Add(4)
	for part := range uint64(4) {
		all.Go(func() {
			for i := range uint64(1000) {
				if i == 1 {
					begun.Done()
					begun.Wait()
				}
				f.Add(digest(1000*part + i))
				if i == 500 {
					if err := f.Close(); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	all.Wait()
	must(t, f.Close())
	in := inFile(t, path)
	for part := range uint64(4) {
		if !in.Has(digest(1000 * part)) {
			t.Error("a key that was added before Close is missing")
		}
	}
}

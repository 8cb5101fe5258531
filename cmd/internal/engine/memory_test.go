package engine_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"weak"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/engine/operation"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/internal/race"
)

// After many concurrent operations with little memory, what is accounted is what the filters take,
// and nothing when there is none.
func TestMemoryIsNeitherLostNorKept(t *testing.T) {
	e, _, _ := journaling(t)
	e.SetMaxMemory(300_000)
	var group sync.WaitGroup
	for g := range uint64(8) {
		group.Go(func() {
			r := rand.New(rand.NewPCG(g, 1))
			name := func() []byte { return fmt.Appendf(nil, "%0*d", 1+r.IntN(20), r.IntN(6)) }
			for range 400 {
				f := e.Get(name())
				switch op := r.IntN(12); {
				case op < 3:
					v := filter.All[r.IntN(len(filter.All))]
					e.Create(string(name()), v.Name, umbel.Goal{Keys: uint64(1 + r.IntN(20_000)), FPRate: 0.01}, nil)
				case op == 3:
					e.Delete(name())
				case op == 4:
					e.Rename(name(), name(), true)
				case op == 5:
					e.Copy(name(), name(), true)
				case f == nil:
				case op < 9:
					f.Add(nil, digests(r.Uint64(), 1+r.IntN(300)))
				case op == 9:
					f.Do(operation.Unfold, umbel.Uint(2))
				case op == 10:
					f.Do(operation.Fold, umbel.Uint(2))
				case op == 11:
					f.Expire(1_000_000 + int64(r.IntN(2)))
					e.Sweep(1)
				}
				if r.IntN(300) == 0 {
					e.Flush()
				}
			}
		})
	}
	group.Wait()
	used, _ := e.Memory()
	if sum := e.Sum(); used != sum {
		t.Errorf("%d bytes are accounted, and the filters take %d", used, sum)
	}
	if _, err := e.Flush(); err != nil {
		t.Fatal(err)
	}
	if used, _ := e.Memory(); used != 0 || e.Len() != 0 {
		t.Errorf("%d bytes of %d filters when there are none", used, e.Len())
	}
}

// A filter that was deleted is freed, though the engine has others.
func TestDeletedFiltersAreFreed(t *testing.T) {
	race.Skip(t, "uses much memory")
	e := engine.New(engine.Options{Kinds: filter.All})
	for i := range 10 {
		create(t, e, fmt.Sprint(i), "bloom", goal, nil)
	}
	deleted := weak.Make(create(t, e, "deleted", "bloom", goal, nil))
	renamed := weak.Make(create(t, e, "renamed over", "bloom", goal, nil))
	if _, _, err := e.Delete([]byte("deleted")); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Rename([]byte("1"), []byte("renamed over"), true); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		runtime.GC()
		if deleted.Value() == nil && renamed.Value() == nil {
			runtime.KeepAlive(e)
			return
		}
	}
	t.Error("somebody keeps it")
}

// IDs are never given twice, even after deletions: not before the next start and not after.
func TestNumbersAreGivenOnce(t *testing.T) {
	seen := make(map[uint64]string)
	j := new(journal)
	for start := range 4 {
		e := engine.New(engine.Options{Kinds: filter.All})
		for _, c := range j.behind(0) {
			if err := e.Apply(c); err != nil {
				t.Fatal(err)
			}
		}
		if err := e.FinishReplay(); err != nil {
			t.Fatal(err)
		}
		e.SetJournal(j)
		for i := range 20 {
			f := create(t, e, fmt.Sprintf("%d %d", start, i), "bloom", goal, nil)
			if was, twice := seen[f.ID()]; twice {
				t.Fatalf("filter %s has the number of %s", f.Name(), was)
			}
			seen[f.ID()] = f.Name()
			if i%3 == 0 {
				add(t, f, digests(1, 5))
			}
			if i%2 == start%2 {
				e.Delete([]byte(f.Name()))
			}
		}
		if start == 1 {
			e.Flush()
		}
	}
}

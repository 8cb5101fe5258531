package engine_test

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/engine/operation"
	"github.com/umbel-filters/umbel/filter"
)

func TestNames(t *testing.T) {
	e, _, _ := journaling(t)
	f := create(t, e, "a", "bloom", goal, nil)
	add(t, f, digests(1, 10))
	_, pos, err := e.Create("a", "bloom", goal, nil)
	wantErr(t, err, engine.ErrExists)
	if pos == 0 {
		t.Error("ErrExists rests on nothing")
	}
	g := create(t, e, "b", "blocked", goal, nil)
	if _, err := e.Copy([]byte("a"), []byte("b"), false); err == nil {
		t.Error("copied over another")
	}
	if _, err := e.Copy([]byte("a"), []byte("b"), true); err != nil {
		t.Fatal(err)
	}
	if _, _, err := g.Add(nil, digests(1, 1)); err == nil {
		t.Error("a filter that was replaced takes a key")
	}
	wantAll(t, e.Get([]byte("b")), digests(1, 10))
	pos, err = e.Rename([]byte("a"), []byte("b"), false)
	if wantErr(t, err, engine.ErrExists); pos == 0 || e.Get([]byte("a")) != f {
		t.Errorf("a rename to a name that is taken changes something, or depends on position %d", pos)
	}
	if _, err := e.Rename([]byte("a"), []byte("b"), true); err != nil {
		t.Fatal(err)
	}
	if e.Get([]byte("b")) != f || e.Get([]byte("a")) != nil || e.Len() != 1 || f.Name() != "b" {
		t.Error("renamed otherwise")
	}
	_, err = e.Rename([]byte("a"), []byte("c"), true)
	wantErr(t, err, engine.ErrNotFound)
	if ok, _, err := e.Delete([]byte("b")); !ok || err != nil {
		t.Errorf("Delete: %v, %v", ok, err)
	}
	ok, pos, err := e.Delete([]byte("b"))
	if ok || err != nil || pos == 0 {
		t.Errorf("Delete of nothing: %v at %d, %v", ok, pos, err)
	}
	_, _, err = f.Add(nil, digests(1, 1))
	wantErr(t, err, engine.ErrNotFound)
	if used, _ := e.Memory(); used != 0 {
		t.Errorf("no filters take %d bytes", used)
	}
}

func TestExpire(t *testing.T) {
	e, _, clock := journaling(t)
	f := create(t, e, "f", "bloom", goal, nil)
	if _, err := f.Expire(clock.at + 10); err != nil {
		t.Fatal(err)
	}
	clock.at += 9
	if e.Get([]byte("f")) != f || f.Idle() != 9 {
		t.Error("gone before its time, or not idle")
	}
	if n, err := e.Sweep(5); n != 0 || err != nil {
		t.Errorf("%d swept, %v", n, err)
	}
	clock.at++
	if e.Get([]byte("f")) != nil || e.Len() != 1 {
		t.Error("there after its time")
	}
	g := create(t, e, "f", "bloom", goal, nil)
	if e.Len() != 1 || g == f {
		t.Error("the name wasn't free")
	}
	if _, err := g.Expire(clock.at); err != nil || e.Len() != 0 {
		t.Errorf("time that is over leaves the filter there: %v", err)
	}
	for i := range 10 {
		h := create(t, e, fmt.Sprint(i), "bloom", goal, nil)
		if _, err := h.Expire(clock.at + 1); err != nil {
			t.Fatal(err)
		}
	}
	clock.at++
	if n, err := e.Sweep(7); n != 7 || err != nil || e.Len() != 3 {
		t.Errorf("%d swept, %v, %d left", n, err, e.Len())
	}
}

// Each filter that stays is seen once, in a walk with steps of any size, with others made and
// deleted meanwhile.
func TestList(t *testing.T) {
	e, _, _ := journaling(t)
	for i := range 1000 {
		create(t, e, fmt.Sprint("stays ", i), "bloom", umbel.Goal{Keys: 1, FPRate: 0.1}, nil)
		create(t, e, fmt.Sprint("goes ", i), "bloom", umbel.Goal{Keys: 1, FPRate: 0.1}, nil)
	}
	seen := make(map[string]int)
	for cursor, step := uint64(0), 0; ; step++ {
		cursor = e.List(cursor, 1+step%40, func(f *engine.Filter) bool {
			seen[f.Name()]++
			return step%7 != 0
		})
		if cursor == 0 {
			break
		}
		for i := range 40 {
			if _, _, err := e.Delete(fmt.Append(nil, "goes ", 40*step+i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i := range 1000 {
		if n := seen[fmt.Sprint("stays ", i)]; n != 1 {
			t.Errorf("filter %d is seen %d times", i, n)
		}
	}
}

// Nothing is made that has no room, and Room says so before.
func TestMemory(t *testing.T) {
	e, _, _ := journaling(t)
	e.SetMaxMemory(10_000)
	wantErr(t, e.CheckMemory(10_001), engine.ErrMemory, umbel.ErrLimit)
	wantErr(t, e.CheckMemory(math.MaxUint64), engine.ErrMemory)
	if err := e.CheckMemory(10_000); err != nil {
		t.Error(err)
	}
	_, _, err := e.Create("f", "bloom", umbel.Goal{Keys: 1e12, FPRate: 0.01}, nil)
	wantErr(t, err, engine.ErrMemory)
	f := create(t, e, "f", "bloom", goal, nil)
	_, err = f.Do(operation.Unfold, umbel.Uint(20))
	wantErr(t, err, engine.ErrMemory)
	_, err = f.Do(operation.Unfold, umbel.Uint(1<<62))
	wantErr(t, err, engine.ErrMemory)
	before, _ := e.Memory()
	if _, err := f.Do(operation.Unfold, umbel.Uint(2)); err != nil {
		t.Fatal(err)
	}
	if after, _ := e.Memory(); after < before+1000 || after != e.Sum() {
		t.Errorf("%d bytes, after unfolding %d", before, after)
	}
	for i := range 10 {
		_, err = e.Copy([]byte("f"), fmt.Append(nil, i), false)
	}
	wantErr(t, err, engine.ErrMemory)
}

// What is accounted for a small filter is what it takes, within a tenth.
func TestMemoryOfSmallFilters(t *testing.T) {
	const n = 5000
	for _, kind := range []string{"bloom", "redisbloom"} {
		e := engine.New(engine.Options{Kinds: filter.All})
		heap := func() uint64 {
			runtime.GC()
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return m.HeapAlloc
		}
		before := heap()
		for i := range n {
			f := create(t, e, fmt.Sprint("filter:", i), kind, umbel.Goal{Keys: 100, FPRate: 0.01}, nil)
			add(t, f, digests(1, 2))
		}
		took := heap() - before
		used, _ := e.Memory()
		t.Logf("%s: %d bytes a filter, accounted %d", kind, took/n, used/n)
		if used < took*9/10 || used > took*5/4 {
			t.Errorf("%s: %d bytes a filter, accounted %d", kind, took/n, used/n)
		}
		runtime.KeepAlive(e)
	}
}

// A filter that is written in pieces says yes to all until it is there, and refuses what
// the pieces would undo.
func TestWrite(t *testing.T) {
	for _, kind := range []string{"bloom", "redisbloom", "counting", "sparse"} {
		e, j, _ := journaling(t)
		from := create(t, e, "from", kind, goal, nil)
		ds := digests(1, 500)
		add(t, from, ds)
		var s umbel.State
		if err := from.View(func(g umbel.Filter) { s = g.State().Clone() }); err != nil {
			t.Fatal(err)
		}
		part, plane := -1, s.Arrays
		if len(s.Parts) > 0 {
			part, plane = 0, s.Parts[0].Arrays
		}
		bytes := make([]byte, 0, plane[0].Bytes())
		for _, w := range plane[0].Words {
			for i := range 8 {
				bytes = append(bytes, byte(w>>(8*i)))
			}
		}
		if kind != "sparse" {
			clear(plane[0].Words)
		}
		empty, err := filter.All.Open(s)
		if err != nil {
			t.Fatal(err)
		}
		f, _, err := e.Put("f", empty, engine.PutOptions{Incomplete: true})
		if err != nil {
			t.Fatal(err)
		}
		has := make([]bool, 500)
		if f.Has(has, digests(9, 500)); slices.Contains(has, false) || !f.Incomplete() {
			t.Errorf("%s: hidden, and says no", kind)
		}
		_, _, err = f.Add(nil, digests(1, 1))
		wantErr(t, err, engine.ErrIncomplete)
		for at := 0; at < len(bytes); at += 101 {
			to := min(len(bytes), at+101)
			if _, err := f.Write(part, 0, uint64(at), bytes[at:to], to == len(bytes)); err != nil {
				t.Fatal(err)
			}
		}
		_, err = f.Write(part, 0, uint64(len(bytes))-1, []byte{1, 2}, false)
		wantErr(t, err, umbel.ErrLimit)
		_, err = f.Write(7, 0, 0, nil, false)
		wantErr(t, err, umbel.ErrLimit)
		if f.Incomplete() || identify(t, f) != identify(t, from) {
			t.Errorf("%s: another filter", kind)
		}
		again := engine.New(engine.Options{Kinds: filter.All})
		for _, c := range j.behind(0) {
			if err := again.Apply(c); err != nil {
				t.Fatal(err)
			}
		}
		if g := again.Get([]byte("f")); g.Incomplete() || identify(t, g) != identify(t, from) {
			t.Errorf("%s: the journal makes another filter", kind)
		}
	}
}

// Bits behind the last cell are no filter's, and are refused with nothing changed.
func TestWriteBehindTheLastCell(t *testing.T) {
	e, _, _ := journaling(t)
	f := create(t, e, "f", "bloom", umbel.Goal{Keys: 3, FPRate: 0.1}, nil)
	add(t, f, digests(1, 3))
	before := identify(t, f)
	_, err := f.Write(-1, 0, 0, []byte{1, 2, 3, 4, 5, 6, 7, 8}, true)
	wantErr(t, err, umbel.ErrCorrupt)
	if identify(t, f) != before {
		t.Error("the filter has changed")
	}
}

func TestMeasured(t *testing.T) {
	e, _, _ := journaling(t)
	f := create(t, e, "f", "bloom", umbel.Goal{Keys: 100_000, FPRate: 0.01}, nil)
	add(t, f, digests(1, 5000))
	s := measured(t, f.Measured)
	add(t, f, digests(2, 20))
	if measured(t, f.Measured) != s {
		t.Error("measured again after few additions")
	}
	add(t, f, digests(3, 200))
	if measured(t, f.Measured) == s {
		t.Error("not measured again after many additions")
	}
	if _, err := f.Do(operation.Clear, umbel.Number{}); err != nil || measured(t, f.Measured).Keys != 0 {
		t.Error("not measured again after Clear")
	}
}

// A description counts the keys that were just added: as the estimate of a filter of at most 64 MiB, and in the
// interval of a larger one.
func TestDescribed(t *testing.T) {
	e, _, _ := journaling(t)
	small := create(t, e, "small", "bloom", umbel.Goal{Keys: 100_000, FPRate: 0.01}, nil)
	large := create(t, e, "large", "bloom", umbel.Goal{Keys: 100_000, Bytes: 65 << 20}, nil)
	for _, f := range []*engine.Filter{small, large} {
		add(t, f, digests(1, 50_000))
		before := measured(t, f.Described)
		add(t, f, digests(2, 400))
		after := measured(t, f.Described)
		if after.Low > 50_400 || after.High < 50_400 {
			t.Errorf("%s: %.0f to %.0f keys, want 50,400 between them", f.Name(), after.Low, after.High)
		}
		if measured := after.Keys > before.Keys+300; measured != (f == small) {
			t.Errorf("%s: %.0f keys, before %.0f", f.Name(), after.Keys, before.Keys)
		}
	}
}

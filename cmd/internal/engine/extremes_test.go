package engine_test

import (
	"math"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/filter"
)

// withNumbers returns the state of an empty filter after numbers of it or of its parts were
// changed.
func withNumbers(t testing.TB, kind string, g umbel.Goal, ps umbel.Params, numbers map[string]uint64) umbel.State {
	t.Helper()
	v, err := filter.All.Find(kind)
	if err != nil {
		t.Fatal(err)
	}
	f, err := v.New(g, ps)
	if err != nil {
		t.Fatal(err)
	}
	s := f.State().Clone()
	set := 0
	for _, ps := range append([]umbel.Params{s.Params}, params(s.Parts)...) {
		for i, p := range ps {
			if x, ok := numbers[p.Name]; ok {
				ps[i].Value = umbel.Uint(x)
				set++
			}
		}
	}
	if set != len(numbers) {
		t.Fatalf("%d numbers of %v in %v", set, numbers, s.Params)
	}
	return s
}

func params(parts []umbel.State) (all []umbel.Params) {
	for _, p := range parts {
		all = append(all, p.Params)
	}
	return all
}

// A filter with the largest counts accepts keys, and its snapshot and its journal open, so that
// a node with it starts.
func TestCountsAtTheirEnd(t *testing.T) {
	small := umbel.Goal{Keys: 50, FPRate: 0.01}
	byKeys := umbel.Params{{Name: "by-keys", Value: umbel.Uint(1)}}
	for _, c := range []struct {
		kind    string
		ps      umbel.Params
		numbers map[string]uint64
	}{
		{"window", byKeys, map[string]uint64{"now": 1 << 62}},
		{"window", byKeys, map[string]uint64{"now": 1<<62 - 3}},
		{"redisbloom", nil, map[string]uint64{"entries": math.MaxUint64}},
		{"redisbloom", nil, map[string]uint64{"entries": math.MaxUint64 - 1}},
	} {
		g, err := filter.All.Open(withNumbers(t, c.kind, small, c.ps, c.numbers))
		if err != nil {
			t.Fatal(err)
		}
		e, j, _ := journaling(t)
		f, _, err := e.Put("f", g, engine.PutOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, ds := range [][]umbel.Digest{digests(1, 1), digests(2, 1), digests(3, 300), digests(4, 2), digests(5, 20)} {
			add(t, f, ds)
			wantAll(t, f, ds[len(ds)-1:])
			at := j.Last()
			m, segments, ok := copied(t, f.Capture(), func(int) {})
			if !ok {
				t.Fatal("the filter was deleted")
			}
			if again := restored(t, m, segments, j.behind(at)); identify(t, again) != identify(t, f) {
				t.Errorf("%s with %v: the snapshot is another filter", c.kind, c.numbers)
			}
			if _, err := e.Copy([]byte("f"), []byte("copy"), true); err != nil {
				t.Fatal(err)
			}
		}
		again := engine.New(engine.Options{Kinds: filter.All})
		for _, change := range j.behind(0) {
			if err := again.Apply(change); err != nil {
				t.Fatal(err)
			}
		}
		if err := again.FinishReplay(); err != nil {
			t.Fatal(err)
		}
		if identify(t, again.Get([]byte("f"))) != identify(t, f) {
			t.Errorf("%s with %v: the journal makes another filter", c.kind, c.numbers)
		}
	}
}

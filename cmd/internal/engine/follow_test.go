package engine_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/engine/operation"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/share"
)

// versionOf returns a version of a filter with n keys.
func versionOf(t *testing.T, seed uint64, n int) *bloom.Filter {
	t.Helper()
	f, err := bloom.New(10_000, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	umbel.AddAll(f, nil, digests(seed, n))
	return f
}

// A followed filter answers as its check permits, and copies of it fail while it is out of date.
func TestFollow(t *testing.T) {
	e := engine.New(engine.Options{Kinds: filter.All, ReadOnly: engine.ErrReplica})
	var outdated error
	check := func() error { return outdated }
	f, err := e.Follow("a", versionOf(t, 1, 100), 7, check)
	if err != nil {
		t.Fatal(err)
	}
	want := func(present, absent bool, failed error) {
		t.Helper()
		has := make([]bool, 2)
		ds := []umbel.Digest{digests(1, 1)[0], digests(2, 1)[0]}
		if err := f.Has(has, ds); !errors.Is(err, failed) || err == nil && !slices.Equal(has, []bool{present, absent}) {
			t.Errorf("%v, %v; want %v, %v and %v", has, err, present, absent, failed)
		}
		one := make([]bool, 1)
		if err := f.Has(one, ds[1:]); !errors.Is(err, failed) || err == nil && one[0] != absent {
			t.Errorf("a single key: %v, %v", one, err)
		}
		if err := f.CheckComplete(); (err == nil) != (outdated == nil) || (f.Reason() == engine.Stale) != (outdated != nil) {
			t.Errorf("complete: %v, %q", err, f.Reason())
		}
		if rate := stats(t, f).FPRate; (rate == 1) != (outdated != nil) {
			t.Errorf("the rate is %v", rate)
		}
	}
	want(true, false, nil)
	outdated = engine.ErrMaybe
	want(true, true, nil)
	outdated = share.ErrStale
	want(false, false, share.ErrStale)
	outdated = nil
	want(true, false, nil)
	if f.Version() != 7 {
		t.Errorf("version %d, want 7", f.Version())
	}
}

// The next version replaces the one before. What has the version before can still use it.
func TestFollowReplaces(t *testing.T) {
	e := engine.New(engine.Options{Kinds: filter.All, ReadOnly: engine.ErrReplica})
	current := func() error { return nil }
	var before *engine.Filter
	for v := range uint64(5) {
		f, err := e.Follow("a", versionOf(t, v, 100), v, current)
		if err != nil {
			t.Fatal(err)
		}
		if e.Get([]byte("a")) != f || e.Len() != 1 || before != nil && before.ID() == f.ID() {
			t.Fatalf("version %d is not the filter", v)
		}
		has := make([]bool, 100)
		for _, g := range []*engine.Filter{before, f} {
			if g == nil {
				continue
			}
			if err := g.Has(has, digests(g.Version(), 100)); err != nil || slices.Contains(has, false) {
				t.Fatalf("version %d lacks keys: %v", g.Version(), err)
			}
		}
		before = f
	}
	if got := before.Counts().Queried; got != 500 {
		t.Errorf("%d queried keys, want those of all versions, 500", got)
	}
	if used, _ := e.Memory(); used != before.Bytes() {
		t.Errorf("%d bytes are used, want those of one version, %d", used, before.Bytes())
	}
}

// Without memory for the next version the one before stays.
func TestFollowMemory(t *testing.T) {
	e := engine.New(engine.Options{Kinds: filter.All, ReadOnly: engine.ErrReplica, MaxMemory: 20_000})
	current := func() error { return nil }
	f, err := e.Follow("a", versionOf(t, 1, 100), 1, current)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Follow("a", versionOf(t, 2, 100), 2, current); !errors.Is(err, engine.ErrMemory) || e.Get([]byte("a")) != f {
		t.Errorf("got %v, want engine.ErrMemory and the version before", err)
	}
}

// No change of a replica is possible.
func TestReplicaRefusesChanges(t *testing.T) {
	e := engine.New(engine.Options{Kinds: filter.All, ReadOnly: engine.ErrReplica})
	f, err := e.Follow("a", versionOf(t, 1, 100), 1, func() error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	before := stats(t, f)
	refused := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, engine.ErrReplica) || !errors.Is(err, engine.ErrReadOnly) {
			t.Errorf("%s: %v, want engine.ErrReplica", what, err)
		}
	}
	added := make([]bool, 1)
	_, _, err = f.Add(added, digests(9, 1))
	refused("add", err)
	_, err = f.Remove(added, digests(1, 1))
	refused("remove", err)
	_, err = f.Do(operation.Clear, umbel.Number{})
	refused("clear", err)
	_, err = f.Do(operation.Fold, umbel.Uint(2))
	refused("fold", err)
	_, err = f.Expire(1)
	refused("expire", err)
	_, _, err = e.Delete([]byte("a"))
	refused("delete", err)
	_, err = e.Rename([]byte("a"), []byte("b"), true)
	refused("rename", err)
	_, err = e.Copy([]byte("a"), []byte("b"), true)
	refused("copy", err)
	_, err = e.Flush()
	refused("flush", err)
	_, _, err = e.Create("b", bloom.Name, umbel.Goal{Keys: 10, FPRate: 0.1}, nil)
	refused("create", err)
	if e.Get([]byte("a")) != f || stats(t, f) != before || e.Len() != 1 {
		t.Error("a refused change has an effect")
	}
}

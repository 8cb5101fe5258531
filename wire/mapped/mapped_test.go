package mapped_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/mapped"
)

// large returns a filter of a kind, and digests that it contains. Its arrays take more than 4 MiB, most of whose blocks of
// 64 KiB are not empty. Tests share it and must not change it.
func large(t testing.TB, kind umbel.Kind) (umbel.Filter, []umbel.Digest) {
	t.Helper()
	once, _ := larges.LoadOrStore(kind.Name, sync.OnceValues(func() (umbel.Filter, []umbel.Digest) { return makeLarge(t, kind) }))
	return once.(func() (umbel.Filter, []umbel.Digest))()
}

// larges has the functions that return the results of makeLarge, by the names of kinds.
var larges sync.Map

func makeLarge(t testing.TB, kind umbel.Kind) (umbel.Filter, []umbel.Digest) {
	goal, n := umbel.Goal{Bytes: 6 << 20, FPRate: 0.01}, 5000
	switch kind.Name {
	case "sparse", "ribbon", "union":
		goal, n = umbel.Goal{Keys: 1_500_000, FPRate: 1e-9}, 1_500_000
	case "window": // it has keys in all of its generations
		goal = umbel.Goal{Keys: 2_000_000, FPRate: 0.01}
	case "squid":
		goal = umbel.Goal{Bytes: 6 << 20, Keys: 5_000_000}
	case "folding": // of a base with room to fold
		goal = umbel.Goal{Keys: 500_000, FPRate: 0.01}
	case "redisbloom", "scalable", "dynamic":
		goal = umbel.Goal{Keys: 5_000_000, FPRate: 0.01}
	case "nixbloom":
		goal.Hasher.Alg = umbel.Caller
	}
	f, err := kind.New(goal, nil)
	if err != nil {
		t.Fatalf("%s: %v", kind.Name, err)
	}
	ds := fixture.Digests(7, n)
	umbel.AddAll(f, nil, ds)
	for tick := uint64(1); tick < 11; tick++ {
		if a, ok := f.(umbel.Advancer); ok {
			if err := a.Advance(tick); err != nil {
				t.Fatal(err)
			}
			umbel.AddAll(f, nil, ds)
		}
	}
	if s, ok := f.(umbel.Sealer); ok {
		if err := s.Seal(); err != nil {
			t.Fatal(err)
		}
	}
	return f, ds
}

// written returns the path of a file with a filter.
func written(t testing.TB, f umbel.Filter) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "filter.umb")
	w, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err = wire.Write(w, f.State()); err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t testing.TB, path string) *mapped.Filter {
	t.Helper()
	x, err := mapped.Open(path, filter.All, wire.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x
}

// A filter in its file gives the answers of the filter in memory, for all kinds and all queries.
func TestSameAnswers(t *testing.T) {
	for _, kind := range filter.All {
		t.Run(kind.Name, func(t *testing.T) {
			f, added := large(t, kind)
			x := open(t, written(t, f))
			if x.InPlace() != canMap {
				t.Errorf("in place: %v; %d bytes in %d arrays", x.InPlace(), f.State().Bytes(), len(f.State().AllArrays()))
			}
			ds := append(fixture.Digests(8, 3000), added[:3000]...)
			got, want := make([]bool, len(ds)), make([]bool, len(ds))
			umbel.HasAll(f, want, ds)
			if err := x.HasAll(got, ds); err != nil {
				t.Fatal(err)
			}
			for i, d := range ds {
				if has, err := x.Has(d); err != nil || has != want[i] || got[i] != want[i] {
					t.Fatalf("digest %d: Has is %v, %v, in a batch %v, want %v", i, has, err, got[i], want[i])
				}
			}
			if err := x.Query(1, func(g umbel.Filter) { sameQueries(t, f, g, ds) }); err != nil {
				t.Error(err)
			}
			if err := x.Verify(); err != nil {
				t.Error(err)
			}
		})
	}
}

// sameQueries compares the answers of f and g to queries other than Has.
func sameQueries(t *testing.T, f, g umbel.Filter, ds []umbel.Digest) {
	if f.Stats() != g.Stats() {
		t.Errorf("%+v, want %+v", g.Stats(), f.Stats())
	}
	if !f.State().Equal(g.State()) {
		t.Error("another state")
	}
	for _, d := range ds[len(ds)-1000:] {
		if c, ok := f.(umbel.Counter); ok {
			n, known := c.Count(d)
			if m, also := g.(umbel.Counter).Count(d); m != n || also != known {
				t.Fatalf("count %d, want %d", m, n)
			}
		}
		if l, ok := f.(umbel.Locator); ok {
			a, b := l.Locate(nil, d), g.(umbel.Locator).Locate(nil, d)
			for i := range a {
				if a[i] != b[i] {
					t.Fatal("other positions")
				}
			}
		}
		if c, ok := f.(umbel.Classifier); ok && c.HasClass(d, 0) != g.(umbel.Classifier).HasClass(d, 0) {
			t.Fatal("another answer for class 0")
		}
	}
	if p, ok := f.(umbel.PositionLister); ok {
		n := 0
		p.Positions(func(uint64) bool { n++; return true })
		g.(umbel.PositionLister).Positions(func(uint64) bool { n--; return true })
		if n != 0 {
			t.Errorf("%d positions more", n)
		}
	}
}

// bloomFile returns the path of a bloom filter of 6 MiB, its container and its digests.
func bloomFile(t testing.TB) (string, []byte, []umbel.Digest) {
	f, ds := large(t, bloom.Kind)
	path := written(t, f)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, b, ds
}

// What can't be mapped is read: small filters, and pipes. What is no container is refused.
func TestReadInstead(t *testing.T) {
	f, ds := large(t, bloom.Kind)
	small := fixture.Filled(fixture.Must(bloom.New(1000, 0.01)), ds[:1000])
	for name, path := range map[string]string{"small": written(t, small)} {
		x := open(t, path)
		if has, err := x.Has(ds[0]); x.InPlace() || !has || err != nil || x.Verify() != nil {
			t.Errorf("%s: in place %v, has %v, %v", name, x.InPlace(), has, err)
		}
	}
	r, p, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		wire.Write(p, f.State())
		p.Close()
	}()
	x, err := mapped.OpenFile(r, filter.All, wire.Limits{})
	if err != nil || x.InPlace() {
		t.Fatalf("a pipe: %v", err)
	}
	if has, err := x.Has(ds[0]); !has || err != nil {
		t.Errorf("a pipe: %v, %v", has, err)
	}
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := mapped.Open(empty, filter.All, wire.Limits{}); !errors.Is(err, umbel.ErrCorrupt) {
		t.Errorf("an empty file: %v", err)
	}
	if _, err := mapped.Open(empty+"s", filter.All, wire.Limits{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, err := mapped.Open(t.TempDir(), filter.All, wire.Limits{}); err == nil {
		t.Error("a directory was opened")
	}
	if _, err := mapped.Open(written(t, f), nil, wire.Limits{}); !errors.Is(err, umbel.ErrKind) {
		t.Errorf("no kinds: %v", err)
	}
}

// A file that is cut, longer or damaged before its cells is refused or opened, and damaged cells are found by Verify. Nothing panics.
func TestDamage(t *testing.T) {
	path, b, ds := bloomFile(t)
	for _, size := range []int{len(b) - 1, len(b) - 4, len(b) / 2 * 3 / 2, len(b) + 1} {
		if err := os.WriteFile(path, append(bytes.Clone(b[:min(size, len(b))]), make([]byte, max(size-len(b), 0))...), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := mapped.Open(path, filter.All, wire.Limits{}); !errors.Is(err, umbel.ErrCorrupt) {
			t.Errorf("%d of %d bytes: %v", size, len(b), err)
		}
	}
	rng := rand.New(rand.NewPCG(3, 4))
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	file := fixture.Must(os.OpenFile(path, os.O_RDWR, 0))
	defer file.Close()
	for range 300 {
		at := rng.IntN(len(b))
		if rng.IntN(4) > 0 {
			at = rng.IntN(140)
		}
		file.WriteAt([]byte{b[at] ^ 1<<rng.IntN(8)}, int64(at))
		x, err := mapped.Open(path, filter.All, wire.Limits{})
		if err != nil {
			file.WriteAt(b[at:at+1], int64(at))
			continue // refused
		}
		for _, d := range ds[:100] {
			if _, err := x.Has(d); err != nil {
				t.Fatalf("byte %d: %v", at, err)
			}
		}
		if err := x.Verify(); x.InPlace() && !errors.Is(err, umbel.ErrCorrupt) {
			t.Fatalf("byte %d: Verify: %v", at, err)
		}
		x.Close()
		file.WriteAt(b[at:at+1], int64(at))
	}
}

// A filter whose file is replaced by rename keeps its answers.
func TestReplaced(t *testing.T) {
	path, _, ds := bloomFile(t)
	x := open(t, path)
	other := written(t, fixture.Must(bloom.New(1000, 0.01)))
	if err := os.Rename(other, path); err != nil {
		t.Skip(err) // Windows
	}
	for _, d := range ds {
		if has, err := x.Has(d); !has || err != nil {
			t.Fatal(has, err)
		}
	}
}

// Queries after Close return an error.
func TestClosed(t *testing.T) {
	path, _, ds := bloomFile(t)
	x := open(t, path)
	for range 2 {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := x.Has(ds[0]); !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
	if err := x.Verify(); !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
}

// Queries allocate nothing.
func TestNoAllocation(t *testing.T) {
	path, _, ds := bloomFile(t)
	x := open(t, path)
	dst := make([]bool, len(ds))
	if n := testing.AllocsPerRun(10, func() {
		x.Has(ds[0])
		x.HasString("alice")
		x.HasAll(dst, ds)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkHas(b *testing.B) {
	path, _, ds := bloomFile(b)
	f, _ := large(b, bloom.Kind)
	x := open(b, path)
	b.Run("memory", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			f.Has(ds[i%len(ds)])
		}
	})
	b.Run("mapped", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			x.Has(ds[i%len(ds)])
		}
	})
	dst := make([]bool, 1024)
	b.Run("mapped, batch of 1024", func(b *testing.B) {
		for b.Loop() {
			x.HasAll(dst, ds[:1024])
		}
	})
}

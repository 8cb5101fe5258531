// Package comingfrom contains the code of docs/coming-from.md: twelve tasks with umbel,
// bits-and-blooms/bloom and greatroar/blobloom.
package comingfrom

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"strings"
	"sync"
	"testing"

	bab "github.com/bits-and-blooms/bloom/v3"
	"github.com/cespare/xxhash/v2"
	"github.com/greatroar/blobloom"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/blocked"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/compare"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/filter/foreign/imported"
	"github.com/umbel-filters/umbel/filter/scalable"
	"github.com/umbel-filters/umbel/filter/union"
	"github.com/umbel-filters/umbel/plan"
	"github.com/zeebo/xxh3"
)

// Every block of Go code in the page is a part of this file, apart from indentation.
func TestPageIsCompiled(t *testing.T) {
	source, page := lines(t, "tasks_test.go"), lines(t, "../../../docs/coming-from.md")
	blocks := 0
	for rest := page; ; blocks++ {
		_, after, ok := strings.Cut(rest, "\n```go\n")
		if !ok {
			break
		}
		block, next, ok := strings.Cut(after, "\n```\n")
		if !ok {
			t.Fatal("a block of code does not end")
		}
		if !strings.Contains(source, "\n"+block+"\n") {
			t.Errorf("not in tasks_test.go:\n%s", block)
		}
		rest = "\n" + next
	}
	if blocks < 23 {
		t.Errorf("%d blocks, want at least 23", blocks)
	}
}

// lines returns a file without indentation, and without the markers that the compiler needs.
func lines(t *testing.T, name string) string {
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for line := range strings.Lines(string(b)) {
		out.WriteString(strings.TrimSpace(line) + "\n")
	}
	return out.String()
}

func check(t *testing.T, ok bool) {
	t.Helper()
	if !ok {
		t.Error("the example does not do what the page says")
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Stored filters answer as in the library that made them, and are written back.
func TestStoredFilters(t *testing.T) {
	{
		made := blobloom.NewOptimized(blobloom.Config{Capacity: 1000, FPRate: 0.01})
		made.Add(xxhash.Sum64String("alice"))
		var file bytes.Buffer
		_, err := blobloom.Dump(&file, made, "")
		must(t, err)
		dump := file.Bytes()
		{
			f, _, err := imported.ParseBlobloom(dump, umbel.Hasher{Alg: umbel.XXH64}) // keys were hashed by xxhash
			known := f.HasString("alice")
			f.AddString("bob")
			container, err2 := f.MarshalBinary()

			must(t, errors.Join(err, err2))
			check(t, known && stored(t, container).HasString("bob"))
		}
	}
	{
		made := blobloom.NewOptimized(blobloom.Config{Capacity: 1000, FPRate: 0.01})
		made.Add(xxh3.HashString("alice"))
		var file bytes.Buffer
		_, err := blobloom.Dump(&file, made, "")
		must(t, err)
		dump := file.Bytes()
		{
			f, _, err := imported.ParseBlobloom(dump, umbel.Hasher{Alg: umbel.Caller}) // keys were hashed by another function
			known := f.Has(umbel.DigestFromHash64(xxh3.HashString("alice")))

			must(t, err)
			check(t, known)
		}
	}
	{
		made, err := imported.New(1000, 0.01)
		must(t, err)
		made.AddString("alice")
		data, err := made.AppendFile(nil, "")
		must(t, err)
		{
			f, err := imported.ParseGuava(data)
			known := f.HasString("alice") // a key of stringFunnel(UTF_8)
			f.AddString("bob")
			container, err2 := f.MarshalBinary()

			must(t, errors.Join(err, err2))
			check(t, known && stored(t, container).HasString("bob"))
		}
	}
	{
		made, err := imported.NewShape(imported.Shape{Form: imported.Spark2, M: 6400, K: 5, Hasher: umbel.Hasher{Alg: umbel.SparkMurmur3}})
		must(t, err)
		made.AddString("alice")
		data, err := made.AppendFile(nil, "")
		must(t, err)
		{
			f, err := imported.ParseSpark(data)
			known := f.HasString("alice")
			umbel.AddKey(f, uint64(42)) // putLong(42)
			container, err2 := f.MarshalBinary()

			must(t, errors.Join(err, err2))
			check(t, known && umbel.HasKey(stored(t, container), uint64(42)))
		}
	}
	{
		made := bab.NewWithEstimates(1000, 0.01)
		made.AddString("alice")
		data, err := made.MarshalBinary()
		must(t, err)
		{
			old, err := imported.ParseBitsAndBlooms(data)
			f, err2 := bloom.New(1_000_000, 0.01)
			f.AddString("bob")
			known := f.HasString("alice") || old.HasString("alice")

			must(t, errors.Join(err, err2))
			check(t, known && f.HasString("bob"))
		}
	}
}

// stored returns the filter in a container.
func stored(t *testing.T, container []byte) *imported.Filter {
	t.Helper()
	f := new(imported.Filter)
	must(t, f.UnmarshalBinary(container))
	return f
}

func TestMake(t *testing.T) {
	{
		f, err := bloom.New(1_000_000, 0.01)

		must(t, err)
		check(t, !f.HasString("a"))
	}
	{
		f := bab.NewWithEstimates(1_000_000, 0.01)

		check(t, !f.TestString("a"))
	}
	{
		f := blobloom.NewOptimized(blobloom.Config{Capacity: 1_000_000, FPRate: 0.01})

		check(t, !f.Has(1))
	}
}

func TestKeys(t *testing.T) {
	{
		f, err := bloom.New(1000, 0.01)
		must(t, err)

		f.AddString("alice")
		f.AddBytes([]byte("bob"))
		umbel.AddKey(f, uint64(42))
		known := f.HasString("alice")

		check(t, known && umbel.HasKey(f, uint64(42)))
	}
	{
		f := bab.NewWithEstimates(1000, 0.01)

		f.AddString("alice")
		f.Add([]byte("bob"))
		known := f.TestString("alice")

		check(t, known)
	}
	{
		f := blobloom.NewOptimized(blobloom.Config{Capacity: 1000, FPRate: 0.01})

		f.Add(xxh3.HashString("alice"))
		known := f.Has(xxh3.HashString("alice"))

		check(t, known)
	}
}

func TestManyKeys(t *testing.T) {
	keys := []string{"alice", "bob"}
	{
		f, err := blocked.New(1000, 0.01)
		must(t, err)

		umbel.AddKeys(f, keys)
		known := make([]bool, len(keys))
		umbel.HasKeys(f, known, keys)

		check(t, known[0] && known[1])
	}
	{
		f := bab.NewWithEstimates(1000, 0.01)

		for _, key := range keys {
			f.AddString(key)
		}

		check(t, f.TestString("bob"))
	}
}

func TestConcurrent(t *testing.T) {
	{
		f, err := bloom.New(1000, 0.01)
		must(t, err)
		var wg sync.WaitGroup

		wg.Go(func() { umbel.AddKeyAtomic(f, "alice") })
		wg.Go(func() { f.HasString("alice") })

		wg.Wait()
		check(t, f.HasString("alice"))
	}
	{
		var wg sync.WaitGroup

		f := blobloom.NewSyncOptimized(blobloom.Config{Capacity: 1000, FPRate: 0.01})
		wg.Go(func() { f.Add(xxh3.HashString("alice")) })

		wg.Wait()
		check(t, f.Has(xxh3.HashString("alice")))
	}
}

func TestStore(t *testing.T) {
	{
		f, err := bloom.New(1000, 0.01)
		must(t, err)
		var file bytes.Buffer

		data, err := f.MarshalBinary()
		n, err2 := f.WriteTo(&file)

		must(t, err)
		must(t, err2)
		check(t, n == int64(len(data)))

		var g bloom.Filter
		_, err = g.ReadFrom(&file)

		must(t, err)
		check(t, g.Equal(f))

		err = g.UnmarshalBinary(data)

		must(t, err)
	}
	{
		f := bab.NewWithEstimates(1000, 0.01)
		var file bytes.Buffer

		data, err := f.MarshalBinary()
		_, err2 := f.WriteTo(&file)

		must(t, err)
		must(t, err2)
		check(t, len(data) > 0)

		var g bab.BloomFilter
		_, err = g.ReadFrom(&file)

		must(t, err)
	}
	{
		f := blobloom.NewOptimized(blobloom.Config{Capacity: 1000, FPRate: 0.01})
		var file bytes.Buffer

		_, err := blobloom.Dump(&file, f, "comment")

		must(t, err)

		l, err := blobloom.NewLoader(io.Reader(&file))
		must(t, err)
		g, err := l.Load(nil)

		must(t, err)
		check(t, g.Equals(f))
	}
}

func TestUnion(t *testing.T) {
	{
		a, err := bloom.New(1000, 0.01)
		must(t, err)
		b, err := bloom.New(2000, 0.01)
		must(t, err)

		err = a.Merge(b.State())

		must(t, err)

		if a.Planned().Exceeded(a.Stats().FPRate) {
			// the merged filter is overfull
		}

		u, err := union.Of(a.State(), b.State())

		must(t, err)
		check(t, u.Stats().Keys == 0)

		o, err := compare.Of(filter.All, a, b)

		must(t, err)

		common, err := compare.Intersection(filter.All, a, b)

		must(t, err)
		check(t, o.Both.Value == 0 && !common.Has(umbel.Hasher{}.HashString("alice")))
	}
	{
		a, b := bab.NewWithEstimates(1000, 0.01), bab.NewWithEstimates(1000, 0.01)

		err := a.Merge(b)

		must(t, err)
	}
	{
		config := blobloom.Config{Capacity: 1000, FPRate: 0.01}
		a, b := blobloom.NewOptimized(config), blobloom.NewOptimized(config)

		a.Union(b)
		a.Intersect(b)

		check(t, a.Empty())
	}
}

func TestCopy(t *testing.T) {
	{
		f, err := bloom.New(1000, 0.01)
		must(t, err)

		g := f.Clone()
		same := g.Equal(f)

		check(t, same)
	}
	{
		f := bab.NewWithEstimates(1000, 0.01)

		g := f.Copy()
		same := g.Equal(f)

		check(t, same)
	}
}

func TestFold(t *testing.T) {
	f, err := bloom.New(1_000_000, 0.01)
	must(t, err)

	err = f.Fold(4)

	must(t, err)
}

func TestRemove(t *testing.T) {
	f, err := counting.New(1000, 0.01)
	must(t, err)

	f.AddString("alice")
	f.RemoveString("alice")
	known := f.HasString("alice")

	check(t, !known)
}

func TestGrow(t *testing.T) {
	f, err := scalable.New(1000, 0.01)
	must(t, err)

	for id := range uint64(100_000) {
		umbel.AddKey(f, id)
	}

	check(t, f.Stats().FPRate < 0.01)
}

func TestEstimate(t *testing.T) {
	{
		f, err := bloom.New(1000, 0.01)
		must(t, err)

		s := f.Stats()
		keys, low, high := s.Keys, s.Low, s.High

		check(t, keys == 0 && low == 0 && high == 0)
	}
	{
		f := bab.NewWithEstimates(1000, 0.01)

		keys := f.ApproximatedSize()

		check(t, keys == 0)
	}
	{
		f := blobloom.NewOptimized(blobloom.Config{Capacity: 1000, FPRate: 0.01})

		keys := f.Cardinality()

		check(t, keys == 0)
	}
}

func TestAnyKind(t *testing.T) {
	kind, err := filter.All.Find("blocked")
	must(t, err)
	f, err := kind.New(umbel.Goal{Keys: 1000, FPRate: 0.01}, nil)
	must(t, err)

	f.Add(f.Hasher().HashString("alice"))
	if m, ok := f.(umbel.Merger); ok {
		err = m.Merge(f.State().Clone())
	}

	must(t, err)
	check(t, f.Has(f.Hasher().HashString("alice")))
}

func TestHash(t *testing.T) {
	{
		seed, err := umbel.ParseSeed("000102030405060708090a0b0c0d0e0f")
		must(t, err)

		h := umbel.Hasher{Alg: umbel.SipHash, Seed: seed}
		f, err := bloom.NewGoal(umbel.Goal{Keys: 1000, FPRate: 0.01, Hasher: h})

		must(t, err)
		check(t, !f.HasString("a"))
	}
	{
		own := umbel.Hasher{Alg: umbel.Caller}
		f, err := bloom.NewGoal(umbel.Goal{Keys: 1000, FPRate: 0.01, Hasher: own})
		must(t, err)

		f.Add(umbel.DigestFromHash64(xxh3.HashString("alice")))

		check(t, f.Has(umbel.DigestFromHash64(xxh3.HashString("alice"))))
	}
	{
		f := blobloom.NewOptimized(blobloom.Config{Capacity: 1000, FPRate: 0.01})

		f.Add(xxh3.HashString("alice"))

		check(t, f.Has(xxh3.HashString("alice")))
	}
}

// The names of bits-and-blooms have the counterparts of the page.
func TestNames(t *testing.T) {
	type record struct{ Filter *bloom.Filter }
	f, err := bloom.NewShape(bloom.Shape{M: 9585, K: 7})
	must(t, err)
	check(t, f.Shape().M == 9585 && f.Shape().K == 7)
	m, k := bab.EstimateParameters(1000, 0.01)
	s, err := plan.Size(1000, 0.01)
	must(t, err)
	check(t, k == uint(s.K) && math.Abs(float64(m)-float64(s.M)) < 100)
	check(t, math.Abs(plan.Filter{M: uint64(m), K: s.K}.FPRate(1000)-bab.EstimateFalsePositiveRate(m, k, 1000)) < 0.01)

	b := bab.New(m, k)
	key := []byte("alice")
	check(t, b.TestAndAdd(key) == !f.AddBytes(key))
	check(t, b.TestOrAdd(key) == !f.AddBytes(key))
	check(t, len(bab.Locations(key, k)) == len(f.Locate(nil, f.Hasher().HashBytes(key))))
	check(t, b.TestLocations(bab.Locations(key, k)) == f.Has(f.Hasher().HashBytes(key)))

	text, err := json.Marshal(record{Filter: f})

	must(t, err)

	var r record
	err = json.Unmarshal(text, &r)

	must(t, err)
	check(t, r.Filter.Equal(f))
	f.Clear()
	b.ClearAll()
	check(t, f.HasString("alice") == b.TestString("alice"))
}

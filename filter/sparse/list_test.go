package sparse_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/sparse"
	"github.com/umbel-filters/umbel/internal/probe"
	"github.com/umbel-filters/umbel/wire"
)

func newFilter(t testing.TB, m uint64, group uint8) *sparse.Filter {
	t.Helper()
	f, err := sparse.NewShape(sparse.Shape{M: m, Group: group})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func digests(seed uint64, n int) []umbel.Digest {
	rng := rand.New(rand.NewPCG(seed, 77))
	ds := make([]umbel.Digest, n)
	for i := range ds {
		ds[i] = umbel.Digest{H1: rng.Uint64(), H2: rng.Uint64()}
	}
	return ds
}

// TestFilterIsItsPositions: a filter is the set of the first positions of its keys' streams,
// however they were added, and its state depends on that set only.
func TestFilterIsItsPositions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		group := rapid.SampledFrom([]uint8{0, probe.WordLog}).Draw(t, "group")
		groups := rapid.Uint64Range(1, 3000).Draw(t, "groups")
		shape := sparse.Shape{M: groups << group, Group: group}
		mapping := probe.Mapping{Groups: groups, Log: group}
		ds := digests(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(0, 300).Draw(t, "keys"))
		var want []uint64
		for _, d := range ds {
			want = mapping.Append(want, d, 1)
		}
		slices.Sort(want)
		want = slices.Compact(want)

		f, err := sparse.NewShape(shape)
		if err != nil {
			t.Fatal(err)
		}
		for left := ds; len(left) > 0; {
			n := rapid.IntRange(1, len(left)).Draw(t, "batch")
			switch rapid.IntRange(0, 2).Draw(t, "way") {
			case 0:
				f.AddAll(nil, left[:n])
			case 1:
				for _, d := range left[:n] {
					f.Add(d)
				}
			default:
				g, err := sparse.NewShape(shape)
				if err != nil {
					t.Fatal(err)
				}
				g.AddAll(nil, left[:n])
				if err := f.Merge(g.State()); err != nil {
					t.Fatal(err)
				}
			}
			left = left[n:]
		}
		if got := slices.Collect(f.Positions); !slices.Equal(got, want) {
			t.Fatalf("positions %d, want %d", got, want)
		}
		again, err := sparse.NewShape(shape)
		if err != nil {
			t.Fatal(err)
		}
		slices.Reverse(ds)
		again.AddAll(nil, ds)
		wantSame(t, f, again)
		f.Compact()
		wantSame(t, f, again)
		if got, bytes := f.State().Bytes(), shape.Forecast(uint64(len(want))).Bytes; got != bytes || f.Stats().Bytes != bytes {
			t.Fatalf("%d bytes, stats say %d, want %d", got, f.Stats().Bytes, bytes)
		}
	})
}

func wantSame(t interface {
	Helper()
	Fatalf(string, ...any)
}, f, g *sparse.Filter) {
	t.Helper()
	if a, b := f.State(), g.State(); !slices.EqualFunc(a.Arrays, b.Arrays, cells.Array.Equal) || !slices.Equal(a.Params, b.Params) {
		t.Fatalf("states of the same keys differ")
	}
}

// TestNeighbors: keys with neighboring positions, which no hash function returns, are kept and
// found, both before and after they enter the list.
func TestNeighbors(t *testing.T) {
	const m, n = 1 << 30, 3000
	for name, at := range map[string]func(i uint64) uint64{
		"at the beginning": func(i uint64) uint64 { return i },
		"at the end":       func(i uint64) uint64 { return m - 1 - i },
		"in the middle":    func(i uint64) uint64 { return m/2 + i*i%n },
		"far and near":     func(i uint64) uint64 { return i&1*(m/2) + i },
	} {
		t.Run(name, func(t *testing.T) {
			// With H1 = 1, the position is H2·m/2^64.
			key := func(i uint64) umbel.Digest { return umbel.Digest{H1: 1, H2: at(i)<<34 | 1<<33} }
			f := newFilter(t, m, 0)
			want := map[uint64]bool{}
			for i := range uint64(n) {
				if got := f.Add(key(i)); got == want[at(i)] {
					t.Fatalf("Add of position %d is %v, want %v", at(i), got, !got)
				}
				want[at(i)] = true
				if !f.Has(key(i)) {
					t.Fatalf("position %d is absent immediately after Add", at(i))
				}
			}
			for i := range uint64(2 * n) {
				if got := f.Has(key(i)); got != want[at(i)] {
					t.Fatalf("Has of position %d is %v, want %v", at(i), got, want[at(i)])
				}
			}
		})
	}
}

// TestPlanBytes: a filter planned for bytes takes at most these bytes when it has its keys, and
// leaves at most a 64th of them unused.
func TestPlanBytes(t *testing.T) {
	for _, g := range []umbel.Goal{
		{Keys: 10_000, Bytes: 10_000}, {Keys: 10_000, Bytes: 30_000}, {Keys: 500, Bytes: 1000},
		{FPRate: 0.01, Bytes: 20_000}, {FPRate: 0.3, Bytes: 4000}, {FPRate: 1e-6, Bytes: 50_000},
	} {
		fc, err := sparse.Kind.Plan(g, nil)
		if err != nil {
			t.Fatal(err)
		}
		f, err := sparse.Kind.New(g, nil)
		if err != nil {
			t.Fatal(err)
		}
		umbel.AddAll(f, nil, digests(1, int(fc.Keys)))
		if got := f.State().Bytes(); got > fc.Bytes || fc.Bytes > g.Bytes || fc.Bytes < g.Bytes-g.Bytes/64-16 {
			t.Errorf("%+v: the state takes %d bytes, the forecast is %d", g, got, fc.Bytes)
		}
		if g.FPRate != 0 && fc.FPRate > g.FPRate {
			t.Errorf("%+v: a rate of %g", g, fc.FPRate)
		}
	}
}

// TestRefuses: filters that can't be combined are refused with the right sentinel.
func TestRefuses(t *testing.T) {
	f := newFilter(t, 6400, 6)
	bloom := func(m, k, group uint64, h umbel.Hasher) umbel.State {
		a, err := cells.New(m, 1)
		if err != nil {
			t.Fatal(err)
		}
		return umbel.State{Kind: "bloom", Hasher: h, Arrays: []cells.Array{a},
			Params: umbel.Params{{Name: "k", Value: umbel.Uint(k)}, {Name: "group", Value: umbel.Uint(group)}}}
	}
	from := func(s umbel.State) error { _, err := sparse.FromBloom(s); return err }
	read := func(s umbel.State) error {
		b, err := wire.Append(nil, s)
		if err != nil {
			t.Fatal(err)
		}
		_, err = sparse.Read(bytes.NewReader(b), wire.Limits{})
		return err
	}
	h := umbel.Hasher{}
	two := bloom(6400, 1, 6, h)
	two.Arrays = append(two.Arrays, two.Arrays[0])
	part := bloom(6400, 1, 6, h)
	part.Parts = []umbel.State{two}
	wide := bloom(6400, 1, 6, h)
	wide.Arrays[0], _ = cells.New(6400, 2)
	for what, c := range map[string]struct{ err, want error }{
		"merge of another hasher":  {f.Merge(bloom(6400, 1, 6, umbel.Hasher{Alg: umbel.SipHash})), umbel.ErrMismatch},
		"merge of k = 2":           {f.Merge(bloom(6400, 2, 6, h)), umbel.ErrMismatch},
		"merge of another group":   {f.Merge(bloom(6400, 1, 0, h)), umbel.ErrMismatch},
		"merge of coprime sizes":   {f.Merge(bloom(64*99, 1, 6, h)), umbel.ErrMismatch},
		"bloom with k = 2":         {from(bloom(6400, 2, 6, h)), umbel.ErrMismatch},
		"bloom with groups of 8":   {from(bloom(6400, 1, 3, h)), umbel.ErrCorrupt},
		"bloom with no cells":      {from(bloom(0, 1, 0, h)), umbel.ErrCorrupt},
		"bloom that is sparse":     {from(f.State()), umbel.ErrKind},
		"read of sparse":           {read(f.State()), umbel.ErrKind},
		"read of k = 2":            {read(bloom(6400, 2, 6, h)), umbel.ErrMismatch},
		"read of groups of 8":      {read(bloom(6400, 1, 3, h)), umbel.ErrCorrupt},
		"read of two planes":       {read(two), umbel.ErrCorrupt},
		"read of a part":           {read(part), umbel.ErrCorrupt},
		"read of cells of 2 bits":  {read(wide), umbel.ErrCorrupt},
		"unfold beyond 2^56 cells": {f.Unfold(1 << 45), umbel.ErrMismatch},
		"write of a zero filter":   {new(sparse.Filter).WriteBloom(io.Discard, wire.Packer{}), umbel.ErrMismatch},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: error %v, want one that wraps %q", what, c.err, c.want)
		}
	}
	if _, err := new(sparse.Filter).Bloom(); !errors.Is(err, umbel.ErrMismatch) {
		t.Errorf("Bloom of a zero filter: error %v, want one that wraps %q", err, umbel.ErrMismatch)
	}
}

// TestReadTakesLittleMemory: reading ten million cells allocates a fraction of their memory, and
// reading cells that are all set allocates at most the limit.
func TestReadTakesLittleMemory(t *testing.T) {
	f := newFilter(t, 64<<20, 6)
	f.AddAll(nil, digests(1, 70_000))
	var sent bytes.Buffer
	if err := f.WriteBloom(&sent, wire.Packer{}); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	g, err := sparse.Read(bytes.NewReader(sent.Bytes()), wire.Limits{})
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, f, g)
	// All that was ever allocated: eight blocks of 64 KiB at most, gaps that were copied
	// as they grew, the list.
	if took := after.TotalAlloc - before.TotalAlloc; took > 8<<20/3 {
		t.Errorf("%d bytes were allocated for a filter of %d, want less than a third of its cells' 8 MiB", took, f.State().Bytes())
	}

	a, err := cells.New(1<<24, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range a.Words {
		a.Words[i] = ^uint64(0)
	}
	full := umbel.State{Kind: "bloom", Arrays: []cells.Array{a},
		Params: umbel.Params{{Name: "k", Value: umbel.Uint(1)}, {Name: "group", Value: umbel.Uint(6)}}}
	b, err := wire.Append(nil, full)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sparse.Read(bytes.NewReader(b), wire.Limits{Bytes: 1 << 21}); !errors.Is(err, umbel.ErrLimit) {
		t.Errorf("a full filter beyond the limit: error %v, want one that wraps %q", err, umbel.ErrLimit)
	}
	g, err = sparse.Read(bytes.NewReader(b), wire.Limits{Bytes: 1 << 24})
	if err != nil || g.Stats().Fill != 1 {
		t.Errorf("a full filter within the limit: error %v, want a fill of 1", err)
	}
}

// FuzzRead reads fuzzed containers with corrected checksums. Each is refused, or gives a working
// filter that equals the one in the container.
func FuzzRead(f *testing.F) {
	for _, n := range []int{0, 1, 30} {
		g := newFilter(f, 6400, 6)
		g.AddAll(nil, digests(1, n))
		var b bytes.Buffer
		if err := g.WriteBloom(&b, wire.Packer{}); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < 4 {
			return
		}
		b = slices.Clone(b)
		binary.LittleEndian.PutUint32(b[len(b)-4:], crc32.Checksum(b[:len(b)-4], crc32.MakeTable(crc32.Castagnoli)))
		limits := wire.Limits{Bytes: 1 << 16}
		g, err := sparse.Read(bytes.NewReader(b), limits)
		if err != nil {
			return
		}
		s, err := wire.Parse(b, limits)
		if err != nil {
			t.Fatalf("Read accepts a container that Parse refuses: %v", err)
		}
		same, err := sparse.FromBloom(s)
		if err != nil {
			t.Fatalf("Read accepts a state that FromBloom refuses: %v", err)
		}
		wantSame(t, g, same)
		d := umbel.Digest{H1: 1, H2: 1 << 40}
		if g.Add(d); !g.Has(d) {
			t.Fatal("a key is lost")
		}
	})
}

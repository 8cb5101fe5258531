package probe

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/cpucache"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// The kernels, the plain versions and Locate agree on the bits, for one digest and for batches, sliced
// and not.
func TestBitsPathsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 40).Draw(t, "k")
		log := rapid.SampledFrom([]uint8{0, WordLog}).Draw(t, "log")
		sliced := rapid.Bool().Draw(t, "sliced")
		m := Mapping{Groups: rapid.Uint64Range(1, 300).Draw(t, "groups"), Log: log}
		size := m.Groups << m.Log
		if sliced {
			size *= uint64(k)
		}
		fast, plain := newBits(t, size, m, k, sliced), newBits(t, size, m, k, sliced)
		plain.table = table{k: uint64(k)}
		if log == WordLog && haveKernels { // as if the array was large, and as on machines without vectors
			fast.table.far = rapid.Bool().Draw(t, "far")
			fast.table.lanes = rapid.SampledFrom(lanesFor(k)).Draw(t, "lanes")
			if haveLanes == 8 && rapid.Bool().Draw(t, "wide") {
				fast.table.wide = 1
			}
		}
		same := func(b *Bits) *Bits { // with the kernels of fast
			b.table.far, b.table.lanes, b.table.wide = fast.table.far, fast.table.lanes, fast.table.wide
			return b
		}
		quiet, single := same(newBits(t, size, m, k, sliced)), same(newBits(t, size, m, k, sliced))
		located, err := cells.New(size, 1)
		if err != nil {
			t.Fatal(err)
		}
		ds := rapid.SliceOfN(rapid.Custom(drawDigest), 0, 100).Draw(t, "digests")
		changed := make([]bool, len(ds))
		fast.AddAll(changed, ds)
		quiet.AddAll(nil, ds)
		for i, d := range ds {
			fresh := false
			for _, at := range plain.Locate(nil, d) {
				fresh = located.SetBit(at) || fresh
			}
			if got := plain.Add(d); got != fresh || changed[i] != fresh {
				t.Fatalf("Add(%v) is %v, in a batch %v, want %v", d, got, changed[i], fresh)
			}
		}
		for i, d := range ds {
			if got := single.Add(d); got != changed[i] {
				t.Fatalf("Add(%v) by kernel is %v, want %v", d, got, changed[i])
			}
		}
		for _, b := range []*Bits{fast, quiet, plain, single} {
			if !slices.Equal(b.words, located.Words) {
				t.Fatalf("the paths set different bits")
			}
		}
		queries := append(rapid.SliceOfN(rapid.Custom(drawDigest), 0, 100).Draw(t, "queries"), ds...)
		results := make([]bool, len(queries))
		fast.HasAll(results, queries)
		for i, d := range queries {
			want := !slices.ContainsFunc(plain.Locate(nil, d), func(at uint64) bool { return !located.Bit(at) })
			if got := []bool{fast.Has(d), plain.Has(d), results[i]}; slices.Contains(got, !want) {
				t.Fatalf("Has(%v) by kernel, plain and in a batch is %v, want %v", d, got, want)
			}
		}
	})
}

// lanesFor returns the numbers of values in vectors that batches with k bits per key may use on this machine.
func lanesFor(k int) (all []uint8) {
	for _, lanes := range []uint8{0, 4, 8} {
		if lanes == 0 || lanes <= haveLanes && k <= maxEights {
			all = append(all, lanes)
		}
	}
	return all
}

func newBits(t *rapid.T, size uint64, m Mapping, k int, sliced bool) *Bits {
	a, err := cells.New(size, 1)
	if err != nil {
		t.Fatal(err)
	}
	b := NewBits(a, m, k, sliced)
	return &b
}

// Queries of single keys test all bits with the largest k, 256, which doesn't fit into a byte: every bit decides.
func TestHasTestsEveryBit(t *testing.T) {
	a, err := cells.New(8*cpucache.L2*wideFrom, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []int{1, 7, 8, 9, 255, 256, 257} {
		a.Clear()
		b := NewBits(a, Mapping{Groups: a.Len >> WordLog, Log: WordLog}, k, false)
		d := umbel.Digest{H1: 1, H2: 2}
		b.Add(d)
		for i, at := range b.Locate(nil, d) {
			a.Put(at, 0)
			if b.Has(d) {
				t.Errorf("k = %d: Has is true without bit %d", k, i)
			}
			a.SetBit(at)
		}
	}
}

// The kernels for eight keys have a frame that a new goroutine has no room for.
func TestEightsGrowTheStack(t *testing.T) {
	for _, lanes := range lanesFor(1) {
		b := NewBits(cells.Array{Len: 64, Width: 1, Words: make([]uint64, 1)}, Mapping{Groups: 1, Log: WordLog}, 1, false)
		b.table.lanes = lanes
		ds := make([]umbel.Digest, 8)
		done := make(chan bool)
		go func() {
			b.AddAll(nil, ds)
			done <- true
		}()
		<-done
		has := make([]bool, 8)
		go func() {
			b.HasAll(has, ds)
			done <- true
		}()
		<-done
		if slices.Contains(has, false) {
			t.Fatalf("with vectors of %d, the batch has %v of eight added digests", lanes, has)
		}
	}
}

// The kernels are chosen by the size of the array, the number of bits per key and the machine.
func TestChoose(t *testing.T) {
	for _, c := range []struct {
		size, groups, k uint64
		most            uint8
		want            table
	}{
		{0, 1, 7, 0, table{}},
		{prefetchFrom, 1, 7, 0, table{far: true}},
		{0, 1, 7, 4, table{}},
		{foursFrom, 1, 7, 4, table{lanes: 4}},
		{prefetchFrom, 1, maxEights, 4, table{lanes: 4, far: true}},
		{prefetchFrom, 1, maxEights + 1, 4, table{far: true}},
		{prefetchFrom, 1 << 32, 7, 4, table{far: true}},
		{0, 1, 7, 8, table{lanes: 8}},
		{prefetchFrom, 1, 7, 8, table{lanes: 8}},
		{wideFrom, 1, 7, 8, table{lanes: 8, wide: 1, far: true}},
		{wideFrom, 1, maxWide, 8, table{wide: 1, far: true}},
		{wideFrom, 1, maxWide + 1, 8, table{far: true}},
		{wideFrom, 1 << 32, 7, 8, table{far: true}},
	} {
		got := table{groups: c.groups, k: c.k}
		got.choose(c.size*cpucache.L2, c.most)
		if c.want.groups, c.want.k = c.groups, c.k; got != c.want {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}

// In a sliced array, the cell of value i is in slice i.
func TestSlices(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 20).Draw(t, "k")
		m := Mapping{Groups: rapid.Uint64Range(1, 100).Draw(t, "groups"), Log: rapid.SampledFrom([]uint8{0, WordLog}).Draw(t, "log")}
		slice := m.Groups << m.Log
		d := drawDigest(t)
		got := newBits(t, slice*uint64(k), m, k, true).Locate(nil, d)
		for i, at := range m.Append(nil, d, k) {
			if want := uint64(i)*slice + at; got[i] != want {
				t.Fatalf("value %d sets cell %d, want %d", i, got[i], want)
			}
		}
	})
}

func TestZeroBits(t *testing.T) {
	var b Bits
	if b.Has(umbel.Digest{}) {
		t.Error("the zero Bits has a digest")
	}
	if at := b.Locate(nil, umbel.Digest{}); at != nil {
		t.Errorf("the zero Bits locates %d", at)
	}
	has := []bool{true}
	if b.HasAll(has, []umbel.Digest{{}}); has[0] {
		t.Error("the zero Bits has a digest of a batch")
	}
	for name, add := range map[string]func(){
		"Add":          func() { b.Add(umbel.Digest{}) },
		"AddAll":       func() { b.AddAll(nil, []umbel.Digest{{}}) },
		"AddAtomic":    func() { b.AddAtomic(umbel.Digest{}) },
		"AddAllAtomic": func() { b.AddAllAtomic([]umbel.Digest{{}}) },
	} {
		fixture.WantPanic(t, name, add)
	}
}

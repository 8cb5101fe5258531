package blocked

import (
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// sizes of batches: near the limits of the kernels.
var sizes = []int{0, 1, 2, 7, 8, 9, 63, 64, 65, 127, 128, 129, 191, 1000, maxBatch - 1, maxBatch, maxBatch + 1, maxBatch + prefetchDistance, maxBatch + prefetchDistance + 1, 3*maxBatch + 17}

// Kernels and their plain versions do the same.
func TestKernelsAgainstPlain(t *testing.T) {
	eachShape(t, func(t *testing.T, words, bits int) {
		for _, blocks := range []uint64{1, 5, 1000, prefetchFrom - 1, prefetchFrom, prefetchFrom + 1} {
			r := newRand(blocks)
			f, changes, plain := newFilter(t, blocks, words, bits), newFilter(t, blocks, words, bits), newFilter(t, blocks, words, bits)
			one := newFilter(t, blocks, words, bits)
			for _, n := range sizes {
				ds := digests(r, n)
				if n > 4 {
					ds[n-1], ds[n/2] = ds[0], ds[n/2-1] // the same block twice, at once and later
					ds[1].H1, ds[2].H1 = 0, ^uint64(0)
				}
				f.AddAll(nil, ds)
				changed, has, other := fill(n), fill(n), fill(n)
				changes.AddAll(changed, ds)
				for i, d := range ds {
					want := addPlain(&plain.blocks, d.H1, d.H2) != 0
					if changed[i] != want {
						t.Fatalf("%d blocks, key %d of %d: changed %v, want %v", blocks, i, n, changed[i], want)
					}
					if got := one.Add(d); got != want {
						t.Fatalf("%d blocks, key %d of %d: Add %v, want %v", blocks, i, n, got, want)
					}
				}
				f.HasAll(has, ds)
				if slices.Contains(has[:n], false) {
					t.Fatalf("%d blocks: one of %d keys is lost", blocks, n)
				}
				queries := digests(r, n)
				f.HasAll(other, queries)
				for i, d := range queries {
					want := hasPlain(&plain.blocks, d.H1, d.H2) == 0
					if other[i] != want || f.Has(d) != want {
						t.Fatalf("%d blocks, query %d of %d: %v and %v, want %v", blocks, i, n, other[i], f.Has(d), want)
					}
				}
			}
			for _, g := range []*Filter{f, changes, one} {
				if !slices.Equal(g.cells.Words, plain.cells.Words) {
					t.Fatalf("%d blocks: bits differ", blocks)
				}
			}
		}
	})
}

// Without kernels, and with prefetches, batches have the same results as single calls.
func TestPlainBatches(t *testing.T) {
	eachShape(t, func(t *testing.T, words, bits int) {
		r := newRand(10)
		f, changes, atomics := newFilter(t, prefetchFrom+1, words, bits), newFilter(t, prefetchFrom+1, words, bits), newFilter(t, prefetchFrom+1, words, bits)
		for _, g := range []*Filter{f, changes, atomics} {
			g.blocks.guide = nil
		}
		one := newFilter(t, prefetchFrom+1, words, bits)
		for _, n := range sizes {
			ds, queries := digests(r, n), digests(r, n)
			if n > 4 {
				ds[n-1], ds[n/2] = ds[0], ds[n/2-1]
			}
			changed, has := fill(n), fill(n)
			f.AddAll(nil, ds)
			changes.AddAll(changed, ds)
			atomics.AddAllAtomic(ds)
			for i, d := range ds {
				if want := one.Add(d); changed[i] != want {
					t.Fatalf("key %d of %d: changed %v, want %v", i, n, changed[i], want)
				}
			}
			for _, queried := range [][]umbel.Digest{ds, queries} {
				f.HasAll(has, queried)
				for i, d := range queried {
					if want := one.Has(d); has[i] != want {
						t.Fatalf("query %d of %d: %v, want %v", i, n, has[i], want)
					}
				}
			}
		}
		for _, g := range []*Filter{f, changes, atomics} {
			if !slices.Equal(g.cells.Words, one.cells.Words) {
				t.Fatal("bits differ")
			}
		}
	})
}

// A result slice that is too short panics, with any capacity.
func TestShortResultsPanic(t *testing.T) {
	f, ds, room := newFilter(t, 10, 3, 2), fixture.Digests(11, 100), make([]bool, 200)
	fixture.WantPanic(t, "HasAll", func() { f.HasAll(room[:99], ds) })
	fixture.WantPanic(t, "AddAll", func() { f.AddAll(room[:99], ds) })
	if f.Stats().Fill != 0 || slices.Contains(room, true) {
		t.Error("the filter or the results changed")
	}
}

// fill returns n bools that a batch has to overwrite.
func fill(n int) []bool { return slices.Repeat([]bool{true, false, true}, n/3+1)[:n] }

// A kernel writes nothing after the last result.
func TestKernelsKeepToTheirSlices(t *testing.T) {
	for _, n := range sizes {
		f := newFilter(t, 100, 3, 2)
		ds := fixture.Digests(5, n)
		results := slices.Repeat([]bool{true}, n+70)
		f.HasAll(results[:n], ds)
		f.AddAll(results[:n], ds)
		if slices.Contains(results[n:], false) {
			t.Errorf("%d keys: results beyond them are written", n)
		}
	}
}

func TestBatchesDontAllocate(t *testing.T) {
	f, ds := newFilter(t, prefetchFrom, 3, 2), fixture.Digests(6, 1000)
	dst := make([]bool, len(ds))
	got := testing.AllocsPerRun(10, func() {
		f.AddAll(nil, ds)
		f.AddAll(dst, ds)
		f.AddAllAtomic(ds)
		f.HasAll(dst, ds)
		f.Has(ds[0])
		f.Add(ds[0])
	})
	if got != 0 {
		t.Errorf("%v allocations, want none", got)
	}
}

func TestShapeCheck(t *testing.T) {
	for _, s := range []Shape{
		{}, {M: 512}, {M: 512, Words: 3}, {M: 512, Bits: 2}, {M: 500, Words: 3, Bits: 2}, {M: 512, Words: 9, Bits: 1},
		{M: 512, Words: 4, Bits: 3}, {M: 512, Words: 6, Bits: 2}, {M: 1<<56 + 512, Words: 3, Bits: 2}, {M: 512, Words: -1, Bits: -1},
	} {
		if _, err := NewShape(s); err == nil {
			t.Errorf("%+v: no error", s)
		}
	}
	s := Shape{M: 1 << 20, Words: 3, Bits: 2, Hasher: umbel.Hasher{}}
	if c := s.Forecast(100_000); c.K != 6 || c.Bytes != 1<<17 || c.FPRate < 0.008 || c.FPRate > 0.009 {
		t.Errorf("forecast %+v", c)
	}
}

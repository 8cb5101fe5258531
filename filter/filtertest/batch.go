package filtertest

import (
	"slices"
	"sync"
	"testing"

	"github.com/umbel-filters/umbel"
)

// batchesEqualSingleCalls: AddAll and HasAll have the effect and the results of one Add or Has
// per digest, for batches of many lengths, with repeated digests. They write one result per
// digest and no more, and panic if the result slice is too short, with any capacity.
func batchesEqualSingleCalls(t tb, v umbel.Kind) {
	// The largest filter exceeds the caches, for which kinds may have other code.
	for _, n := range append(slices.Clone(sizes), 1<<20) {
		one := newFilter(t, v, n)
		umbel.AddAll(one, nil, digests(1, int(n)))
		wantAll(t, one, digests(1, min(int(n), 1000)), "added as a batch")
		reporting, silent, atomic := copyOf(t, v, one), copyOf(t, v, one), copyOf(t, v, one)
		atomically, _ := atomic.(umbel.AtomicBatchAdder)

		for _, length := range batchLengths() {
			fresh := digests(uint64(length+2), length)
			ds := slices.Concat(fresh[:length/2], extreme, fresh[:length/3], digests(1, length), fresh)[:length]
			wantHasAll(t, one, ds)
			got := room(length)
			want := slices.Clone(got)
			for i, d := range ds {
				want[i] = one.Add(d)
			}
			umbel.AddAll(reporting, got[:length+length%2], ds)
			if !slices.Equal(got, want) {
				t.Fatalf("n=%d: AddAll of %d digests sets the results, and those behind them, to %v, want %v", n, length, got, want)
			}
			umbel.AddAll(silent, nil, ds)
			if atomically != nil {
				atomically.AddAllAtomic(ds)
			}
			wantHasAll(t, one, append(ds, fresh...))
		}
		wantState(t, reporting, one.State(), "AddAll, compared with Add")
		wantState(t, silent, one.State(), "AddAll without results, compared with Add")
		if atomically != nil {
			wantState(t, atomic, one.State(), "AddAllAtomic, compared with Add")
		}
		const few = 3
		for _, spare := range []int{few - 1, few, 100} {
			short := func() []bool { return make([]bool, few-1, spare) }
			if panicked(func() { umbel.HasAll(one, short(), extreme[:few]) }) == nil {
				t.Errorf("HasAll accepts a result slice that is too short, of capacity %d", spare)
			}
			if panicked(func() { umbel.AddAll(one, short(), extreme[:few]) }) == nil {
				t.Errorf("AddAll accepts a result slice that is too short, of capacity %d", spare)
			}
		}
	}
}

// batchLengths returns all small lengths, a few of them in a short run, and some around 2^12, where a
// kind may yield the processor.
func batchLengths() []int {
	all := []int{1<<12 - 1, 1<<12 + 1, 1<<13 + 3}
	step := 1
	if testing.Short() {
		step = 5
	}
	for length := 0; length <= 130; length += step {
		all = append(all, length)
	}
	return all
}

// room returns n results and some more behind them, which must not be written.
func room(n int) []bool {
	all := make([]bool, n+20)
	for i := range all {
		all[i] = i%2 == 0
	}
	return all
}

// wantHasAll fails unless HasAll returns the results of Has and writes nothing else.
func wantHasAll(t tb, f umbel.Filter, ds []umbel.Digest) {
	t.Helper()
	got := room(len(ds))
	want := slices.Clone(got)
	for i, d := range ds {
		want[i] = f.Has(d)
	}
	if umbel.HasAll(f, got[:len(ds)+len(ds)%2], ds); !slices.Equal(got, want) {
		t.Fatalf("HasAll of %d digests sets the results, and those behind them, to %v, want %v", len(ds), got, want)
	}
}

// addAtomic: concurrent additions, with concurrent queries, give the same filter as additions in
// sequence. The race detector tests the rest.
func addAtomic(t tb, v umbel.Kind) {
	for _, n := range sizes {
		f := newFilter(t, v, n)
		a := as[umbel.AtomicAdder](t, f)
		want := newFilter(t, v, n)
		ds := append(digests(1, int(n)), extreme...)
		for _, d := range ds[:len(ds)/4] {
			if x, y := a.AddAtomic(d), want.Add(d); x != y {
				t.Fatalf("AddAtomic(%v) without concurrency is %v, want %v as Add", d, x, y)
			}
		}
		addAll(want, ds)
		concurrently(t, f, ds)
		wantAll(t, f, ds, "added atomically")
		wantState(t, f, want.State(), "added by four goroutines, compared with Add in sequence")
	}
}

// concurrently adds ds to f with four goroutines, two of them in batches, while two others
// query. Each shares half of its keys with its neighbors.
func concurrently(t tb, f umbel.Filter, ds []umbel.Digest) {
	t.Helper()
	var adders, readers sync.WaitGroup
	lost := make([]int, 4)
	for i := range 4 {
		adders.Go(func() {
			mine := ds[len(ds)*i/5 : len(ds)*(i+2)/5]
			if batch, ok := f.(umbel.AtomicBatchAdder); ok && i >= 2 {
				batch.AddAllAtomic(mine)
				lost[i] = missing(f, mine)
				return
			}
			for _, d := range mine {
				f.(umbel.AtomicAdder).AddAtomic(d)
				if !f.Has(d) {
					lost[i]++
				}
			}
		})
	}
	done := make(chan struct{})
	for i := range 2 {
		readers.Go(func() {
			answers := make([]bool, len(ds))
			for {
				select {
				case <-done:
					return
				default:
				}
				if i == 0 {
					missing(f, ds)
				} else {
					umbel.HasAll(f, answers, ds)
				}
			}
		})
	}
	adders.Wait()
	close(done)
	readers.Wait()
	for _, n := range lost {
		if n != 0 {
			t.Errorf("Has is false %d times after AddAtomic returned", n)
		}
	}
}

// missing returns the number of digests of ds for which Has is false.
func missing(f umbel.Filter, ds []umbel.Digest) int {
	n := 0
	for _, d := range ds {
		if !f.Has(d) {
			n++
		}
	}
	return n
}

package filtertest

import (
	"slices"
	"sync"

	"github.com/umbel-filters/umbel"
)

// batches: many digests at once have the effect and the answers of one by one, for
// batches of every length, with repetitions; no more is written than answers, and
// room for fewer is a panic, whatever lies behind it.
func batches(t tb, v umbel.Kind) {
	// The largest outgrows the caches, from where kinds may go other ways.
	for _, n := range append(slices.Clone(sizes), 1<<20) {
		one := make1(t, v, n)
		umbel.AddAll(one, nil, digests(1, int(n)))
		wantAll(t, one, digests(1, min(int(n), 1000)), "added as a batch")
		reporting, silent, atomic := twin(t, v, one), twin(t, v, one), twin(t, v, one)
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
				t.Fatalf("n=%d: AddAll of %d reports, with what lies behind, %v, want %v", n, length, got, want)
			}
			umbel.AddAll(silent, nil, ds)
			if atomically != nil {
				atomically.AddAllAtomic(ds)
			}
			wantHasAll(t, one, append(ds, fresh...))
		}
		wantState(t, reporting, one.State(), "AddAll, against one by one")
		wantState(t, silent, one.State(), "AddAll that reports nothing, against one by one")
		if atomically != nil {
			wantState(t, atomic, one.State(), "AddAllAtomic, against one by one")
		}
		const few = 3
		for _, spare := range []int{few - 1, few, 100} {
			short := func() []bool { return make([]bool, few-1, spare) }
			if panicked(func() { umbel.HasAll(one, short(), extreme[:few]) }) == nil {
				t.Errorf("HasAll takes a slice of answers that is too short, of capacity %d", spare)
			}
			if panicked(func() { umbel.AddAll(one, short(), extreme[:few]) }) == nil {
				t.Errorf("AddAll takes a slice of answers that is too short, of capacity %d", spare)
			}
		}
	}
}

// batchLengths are all small ones, and some around 2^12, where kinds may stop to let
// others run.
func batchLengths() []int {
	all := []int{1<<12 - 1, 1<<12 + 1, 1<<13 + 3}
	for length := range 131 {
		all = append(all, length)
	}
	return all
}

// room returns room for n answers and some behind them, which nobody may write to.
func room(n int) []bool {
	all := make([]bool, n+20)
	for i := range all {
		all[i] = i%2 == 0
	}
	return all
}

// wantHasAll fails unless HasAll answers as Has does, and touches nothing else.
func wantHasAll(t tb, f umbel.Filter, ds []umbel.Digest) {
	t.Helper()
	got := room(len(ds))
	want := slices.Clone(got)
	for i, d := range ds {
		want[i] = f.Has(d)
	}
	if umbel.HasAll(f, got[:len(ds)+len(ds)%2], ds); !slices.Equal(got, want) {
		t.Fatalf("HasAll of %d gives, with what lies behind, %v, want %v", len(ds), got, want)
	}
}

// addAtomic: additions from many goroutines, with questions alongside, make the
// filter that additions in a row make. Its other half is the race detector's.
func addAtomic(t tb, v umbel.Kind) {
	for _, n := range sizes {
		f := make1(t, v, n)
		a := as[umbel.AtomicAdder](t, f)
		want := make1(t, v, n)
		ds := append(digests(1, int(n)), extreme...)
		for _, d := range ds[:len(ds)/4] {
			if x, y := a.AddAtomic(d), want.Add(d); x != y {
				t.Fatalf("AddAtomic(%v), alone, is %v, and Add %v", d, x, y)
			}
		}
		addAll(want, ds)
		concurrently(t, f, ds)
		wantAll(t, f, ds, "added atomically")
		wantState(t, f, want.State(), "added by four goroutines, against in a row")
	}
}

// concurrently adds ds to f by four goroutines, two of them in batches, each of which
// shares half of its keys with its neighbours, while two others ask.
func concurrently(t tb, f umbel.Filter, ds []umbel.Digest) {
	t.Helper()
	var adders, askers sync.WaitGroup
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
		askers.Go(func() {
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
	askers.Wait()
	for _, n := range lost {
		if n != 0 {
			t.Errorf("Has is false %d times after AddAtomic has returned", n)
		}
	}
}

// missing returns how many of ds f doesn't have.
func missing(f umbel.Filter, ds []umbel.Digest) int {
	n := 0
	for _, d := range ds {
		if !f.Has(d) {
			n++
		}
	}
	return n
}

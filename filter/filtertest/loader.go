package filtertest

import (
	"math"
	"slices"
	"sync"

	"github.com/umbel-filters/umbel"
)

// loaderEqualsAddAll: a loader that several goroutines use makes the same filter as AddAll, also if it goes on
// after a Flush. A filter that is too small for a loader, such as an empty one, has none.
func loaderEqualsAddAll(t tb, v umbel.Kind) {
	small := as[umbel.BulkAdder](t, newFilter(t, v, sizes[0]))
	if small.NewLoader(math.MaxUint64) != nil {
		t.Fatalf("a filter of %d keys has a loader", sizes[0])
	}
	// Arrays from 8 MiB on have loaders.
	const keys, workers = 8_000_000, 4
	want, got := newFilter(t, v, keys), newFilter(t, v, keys)
	b := as[umbel.BulkAdder](t, got)
	if b.NewLoader(0) != nil {
		t.Errorf("a loader for which no memory is allowed")
	}
	l := b.NewLoader(math.MaxUint64)
	if l == nil {
		t.Fatalf("a filter of %d keys has no loader", keys)
	}
	for round := range uint64(2) {
		ds := append(digests(round+1, 100_000), extreme...)
		umbel.AddAll(want, nil, ds)
		var adders sync.WaitGroup
		for part := range slices.Chunk(ds, len(ds)/workers+1) {
			adders.Go(func() {
				for batch := range slices.Chunk(part, 1001) {
					l.AddAll(batch)
				}
			})
		}
		adders.Wait()
		l.Flush()
		wantAll(t, got, ds, "added by a loader")
		wantState(t, got, want.State(), "filled by a loader, compared with AddAll")
	}
}

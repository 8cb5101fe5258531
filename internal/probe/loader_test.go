package probe

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// loaderBits returns Bits of about n bits.
func loaderBits(t testing.TB, n uint64, k int, log uint8, sliced bool) Bits {
	t.Helper()
	slices := uint64(1)
	if sliced {
		slices = uint64(k)
	}
	groups := n/slices>>log + 1
	a, err := cells.New(groups<<log*slices, 1)
	if err != nil {
		t.Fatal(err)
	}
	return NewBits(a, Mapping{groups, log}, k, sliced)
}

// A loader sets the bits that Add sets, with regions and queues of any size, and goroutines that add at once.
func TestLoader(t *testing.T) {
	const n, batch, workers = 30_000, 700, 4
	ds := fixture.Digests(1, n)
	for _, c := range []struct {
		bits, k int
		log     uint8
		sliced  bool
		region  uint8
		room    uint64
	}{
		{1, 1, 0, false, 6, 2 * listCells},
		{100_000, 7, WordLog, false, 10, 2 * listCells},
		{100_000, 7, WordLog, true, 12, 3*listCells + 17},
		{100_003, 3, 0, false, 11, 4 * listCells},
		{100_003, 5, 0, true, 32, 9 * listCells},
		{64_000, 16, WordLog, false, 6, 2 * listCells},
	} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			got := loaderBits(t, uint64(c.bits), c.k, c.log, c.sliced)
			want := loaderBits(t, uint64(c.bits), c.k, c.log, c.sliced)
			want.AddAll(nil, ds)
			l := got.newLoader(loaderShape{regionsOf(uint64(len(got.words)), c.region), c.region, c.room})
			for range 2 { // a loader can be used after Flush
				var wg sync.WaitGroup
				for w := range workers {
					wg.Go(func() {
						for i := w * batch; i < n; i += workers * batch {
							l.AddAll(ds[i:min(i+batch, n)])
						}
					})
				}
				wg.Wait()
				l.Flush()
				if !slices.Equal(got.words, want.words) {
					t.Fatal("the bits differ from those of AddAll")
				}
				clear(got.words)
			}
		})
	}
}

// The memory of a loader is at most that of the array and 256 MiB. A region has an address of 32 bits.
func TestLoaderShape(t *testing.T) {
	for _, c := range []struct{ words, loader uint64 }{
		{0, 0},
		{loaderFrom - 1, 0},
		{loaderFrom, loaderFrom * 8},
		{loaderFrom + 1, loaderFrom * 8},
		{1 << 25, 1 << 28},
		{1 << 31, 1 << 28},
		{maxRegions << 26, 1 << 28},
		{maxRegions<<26 + 1, 0},
	} {
		s := loaderShapeOf(c.words)
		if got := s.bytes(); got > c.loader+8 || got < c.loader/100*98 {
			t.Errorf("%d words: a loader of %d bytes, want %d", c.words, got, c.loader)
		}
		if c.loader > 0 && (s.log > 32 || s.regions > maxRegions || s.regions<<s.log < c.words*64 || s.room < 2*listCells) {
			t.Errorf("%d words: %+v", c.words, s)
		}
	}
	small, large := loaderBits(t, 1000, 3, WordLog, false), loaderBits(t, loaderFrom*64, 3, WordLog, false)
	if small.NewLoader(math.MaxUint64) != nil {
		t.Error("a loader for a small array")
	}
	need := loaderShapeOf(uint64(len(large.words))).bytes()
	if large.NewLoader(need-1) != nil || large.NewLoader(need) == nil {
		t.Errorf("a loader of %d bytes is not made if and only if they are allowed", need)
	}
}

// New keys in an array of 120 MB, which is larger than the caches.
func BenchmarkLoader(b *testing.B) {
	bits := loaderBits(b, 965_099_520, 7, WordLog, false)
	ds := fixture.Digests(1, 1<<22)
	const batch = 1024
	for _, c := range []struct {
		name string
		add  func([]umbel.Digest)
	}{
		{"Loader", bits.NewLoader(math.MaxUint64).AddAll},
		{"AddAll", func(ds []umbel.Digest) { bits.AddAll(nil, ds) }},
		{"AddAllAtomic", bits.AddAllAtomic},
	} {
		b.Run(c.name, func(b *testing.B) {
			i := 0
			for b.Loop() {
				c.add(ds[i : i+batch])
				i = (i + batch) % len(ds)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/batch, "ns/key")
		})
	}
}

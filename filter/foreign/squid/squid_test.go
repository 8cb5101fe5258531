package squid

import (
	"errors"
	"math/rand/v2"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/filtertest"
	"github.com/umbel-filters/umbel/internal/fixture"
)

var (
	_ umbel.AtomicAdder      = (*Filter)(nil)
	_ umbel.Merger           = (*Filter)(nil)
	_ umbel.Folder           = (*Filter)(nil)
	_ umbel.Clearer          = (*Filter)(nil)
	_ umbel.Locator          = (*Filter)(nil)
	_ umbel.BatchQuerier     = (*Filter)(nil)
	_ umbel.BatchAdder       = (*Filter)(nil)
	_ umbel.AtomicBatchAdder = (*Filter)(nil)
)

func FuzzOpen(f *testing.F) { filtertest.Fuzz(f, Kind) }

func TestKind(t *testing.T) { filtertest.Run(t, Kind) }

func TestZeroFilter(t *testing.T) {
	filtertest.Zero(t, Kind, func() umbel.Filter { return new(Filter) })
}

func testFilter(t testing.TB, m uint64) *Filter {
	t.Helper()
	return fixture.Must(NewShape(Shape{M: m, Hasher: Hasher}))
}

// TestPosition: the product equals the remainder, also for the largest sizes and values.
func TestPosition(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		m := 8 * rapid.Uint64Range(1, maxM/8).Draw(r, "bytes")
		v := rapid.OneOf(rapid.Uint32(), rapid.Uint32Min(1<<32-10), rapid.SampledFrom([]uint32{uint32(m - 1), uint32(m), uint32(m + 1)})).Draw(r, "value")
		f := Filter{m: m, inverse: inverseOf(m)}
		if got, want := f.position(v), uint64(v)%m; got != want {
			r.Fatalf("%d modulo %d is %d, want %d", v, m, got, want)
		}
	})
}

// TestPositions: the four words are those of the hash, most significant first.
func TestPositions(t *testing.T) {
	f := testFilter(t, 1000)
	at := f.Locate(nil, umbel.Digest{H1: 1003<<32 | 2005, H2: 7<<32 | 999})
	want := [K]uint64{3, 5, 7, 999}
	if [K]uint64(at) != want {
		t.Errorf("positions %d, want %d", at, want)
	}
}

func TestShapes(t *testing.T) {
	for _, m := range []uint64{0, 1, 7, 12, maxM + 8, ^uint64(0) &^ 7} {
		if _, err := NewShape(Shape{M: m}); !errors.Is(err, umbel.ErrGoal) {
			t.Errorf("m=%d: %v, want ErrGoal", m, err)
		}
	}
	if err := (Shape{M: maxM}).checkGoal(); err != nil {
		t.Errorf("the largest shape: %v", err)
	}
	if err := testFilter(t, 8).Unfold(maxM/8 + 1); !errors.Is(err, umbel.ErrMismatch) {
		t.Errorf("unfold beyond 2^31 cells: %v, want ErrMismatch", err)
	}
	s, err := Plan(umbel.Goal{Keys: 1e6, FPRate: 0.01, Hasher: Hasher})
	if perKey := float64(s.M) / 1e6; err != nil || perKey < 10.5 || perKey > 10.7 || s.Hasher != Hasher {
		t.Errorf("%v, %v, want about 10.5 bits per key, the size for k = 4", s, err)
	}
}

// TestAtomicAlongsideHas runs queries and additions concurrently, for the race detector. No key is lost.
func TestAtomicAlongsideHas(t *testing.T) {
	f, want := testFilter(t, 1<<14), testFilter(t, 1<<14)
	const n = 2000
	var wg sync.WaitGroup
	for g := range uint64(4) {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(g%2, 1)) // two and two add the same
			for range n {
				d := umbel.Digest{H1: r.Uint64(), H2: r.Uint64()}
				f.AddAtomic(d)
				if !f.Has(d) {
					t.Error("a key is absent after its addition")
					return
				}
			}
		})
	}
	wg.Wait()
	for g := range uint64(2) {
		r := rand.New(rand.NewPCG(g, 1))
		for range n {
			want.Add(umbel.Digest{H1: r.Uint64(), H2: r.Uint64()})
		}
	}
	if !f.State().Equal(want.State()) {
		t.Error("bits differ from those of single additions")
	}
}

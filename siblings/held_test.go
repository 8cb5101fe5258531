package siblings

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel/filter/bloom"
)

// The table is a map, for random operations.
func TestTable(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, spread := range []uint{0, 8, 40, 60} { // the hashes of some are close to each other, also at the end
		set, want := newTable(leastSlots), map[uint64]int64{}
		for range 20_000 {
			hash := rng.Uint64() >> spread
			if spread > 0 {
				hash = rng.Uint64N(400) << 50
			}
			if rng.IntN(2) == 0 {
				hash = ^hash
			}
			if len(want) > 200 && rng.IntN(3) > 0 {
				hash = slices.Collect(maps.Keys(want))[0]
			}
			if _, had := want[hash]; rng.IntN(2) == 0 {
				until := 1 + rng.Int64N(1000)
				if set.put(hash, until) == had {
					t.Fatalf("put of a hash returns %v, want %v", had, !had)
				}
				want[hash] = until
			} else {
				if set.remove(hash) != had {
					t.Fatalf("remove returns %v, want %v", !had, had)
				}
				delete(want, hash)
			}
			if set.n != len(want) || set.until(hash) != want[hash] {
				t.Fatalf("%d hashes, want %d", set.n, len(want))
			}
			low := rng.Uint64()
			high := low + min(rng.Uint64()>>rng.IntN(64), ^low)
			if any := slices.ContainsFunc(slices.Collect(maps.Keys(want)), func(h uint64) bool { return h >= low && h <= high }); set.within(low, high) != any {
				t.Fatalf("within(%x, %x) is %v, want %v", low, high, !any, any)
			}
		}
	}
}

// The filter that follows from single changes is the one that is built from all keys, bit for bit.
func TestSummary(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	h := NewHeld(1_000_000)
	s := summary{held: h, rate: 0.01}
	until := time.Now().Add(time.Hour)
	present := map[Key]bool{}
	for round := range 60 {
		for range 300 {
			k := Key(fmt.Sprintf("http://example.org/%d", rng.IntN(20_000)))
			if round >= 30 || rng.IntN(4) == 0 { // it grows, then shrinks
				h.Removed(k)
				delete(present, k)
			} else {
				h.Added(k, until)
				present[k] = true
			}
		}
		if _, err := s.update(); err != nil {
			t.Fatal(err)
		}
		want, err := bloom.NewShape(s.filter.Shape())
		if err != nil {
			t.Fatal(err)
		}
		for k := range present {
			want.AddString(string(k))
		}
		if !s.filter.Equal(want) {
			t.Fatalf("round %d: the filter of %d keys differs from the one that is built from them", round, len(present))
		}
		if rate := s.filter.Stats().FPRate; rate > s.rate {
			t.Errorf("%d keys: rate %v, want at most %v", len(present), rate, s.rate)
		}
	}
}

// Keys expire in the second before their end, also far ones, those whose end changed and those that were due while the
// machine was suspended.
func TestExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(5, 6))
		h := NewHeld(1_000_000)
		ends := map[Key]time.Time{}
		for i := range 3000 {
			k := Key(fmt.Sprint(i % 1000))
			ends[k] = time.Now().Add(time.Duration(rng.Int64N(int64(5000 * time.Second))))
			h.Added(k, ends[k])
		}
		for range 80 {
			time.Sleep(time.Duration(rng.Int64N(int64(100 * time.Second))))
			if rng.IntN(10) == 0 {
				time.Sleep(wheelSlots * time.Second)
			}
			now := time.Now()
			h.Expire(now)
			for k, end := range ends {
				if left := end.Sub(now); h.Has(k) != (left > time.Second) && (left < 0 || left > 2*time.Second) {
					t.Fatalf("present %v with %v left", h.Has(k), left)
				}
			}
		}
	})
}

// Keys that come and go take no memory for long.
func TestWheelBounded(t *testing.T) {
	h := NewHeld(1_000_000)
	for i := range 200_000 {
		k := Key(fmt.Sprint(i % 100))
		h.Added(k, time.Now().Add(time.Hour))
		h.Removed(k)
	}
	if h.wheel.n > 2*wheelSlots || len(h.changed) > 1<<17 {
		t.Errorf("%d hashes in the wheel and %d changes", h.wheel.n, len(h.changed))
	}
}

func TestHashesOf(t *testing.T) {
	for _, m := range []uint64{64, 100, 102_400, 1<<40 + 3} {
		for _, cell := range []uint64{0, 1, m / 3, m - 1} {
			low, high := hashesOf(cell, m)
			if low > 0 && low-1 >= low || high < low {
				t.Errorf("m %d, cell %d: %x to %x", m, cell, low, high)
			}
			if next, _ := hashesOf((cell+1)%m, m); cell+1 < m && next != high+1 {
				t.Errorf("m %d: cell %d ends at %x, the next begins at %x", m, cell, high, next)
			}
		}
	}
}

// A full set has room for new keys.
func TestMaxHeld(t *testing.T) {
	h := NewHeld(100)
	for i := range 1000 {
		k := Key(fmt.Sprint(i))
		h.Added(k, time.Now().Add(time.Hour))
		if h.Len() != min(i+1, 100) || !h.Has(k) {
			t.Fatalf("%d keys after %d, the last one present: %v", h.Len(), i+1, h.Has(k))
		}
	}
	if h.wheel.n > 2*h.set.n+wheelSlots+1 {
		t.Errorf("the wheel has %d hashes", h.wheel.n)
	}
}

package uniq

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/union"
	"github.com/umbel-filters/umbel/filter/window"
	"github.com/umbel-filters/umbel/wire"
	"pgregory.net/rapid"
)

const (
	windowSpan = 100 // ticks
	second     = 1e9
)

func someWindows(t interface {
	Fatal(...any)
	Helper()
}, keys uint64, rate float64) *Windows {
	t.Helper()
	w, err := NewWindows(umbel.Goal{Keys: keys, FPRate: rate}, windowSpan, second, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// However many keys come, in any bursts, each is present for its span, and the rate is the planned one at most. A state that was
// saved and opened in between continues as before.
func TestWindowsByModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.SampledFrom([]float64{0.05, 0.001}).Draw(t, "rate")
		w := someWindows(t, rapid.Uint64Range(100, 300).Draw(t, "keys"), rate)
		first, seen, key := w.First(), map[uint64]uint64{}, uint64(0) // seen has the time of each key's last addition
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			switch rapid.IntRange(0, 5).Draw(t, "step") {
			case 0:
				if err := w.Advance(w.Now() + rapid.Uint64Range(0, windowSpan+20).Draw(t, "ticks")); err != nil {
					t.Fatal(err)
				}
			case 1:
				var b bytes.Buffer
				if err := wire.Write(&b, w.State()); err != nil {
					t.Fatal(err)
				}
				s, err := wire.Read(&b, wire.Limits{Bytes: math.MaxUint64})
				if err != nil {
					t.Fatal(err)
				}
				opened, ok, err := OpenWindows(s, 0)
				if err != nil || !ok || opened.First() != first || opened.Now() != w.Now() || len(opened.list) != len(w.list) {
					t.Fatalf("opened: %v, %v", ok, err)
				}
				w = opened
			default:
				rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
				for range rapid.IntRange(1, 1500).Draw(t, "burst") {
					k := key
					if key++; rng.IntN(10) == 0 {
						k = rng.Uint64N(key)
					}
					if _, err := w.TryAdd(w.Hasher().HashUint64(k)); err != nil {
						t.Fatal(err)
					}
					seen[k] = w.Now()
				}
			}
			for k, at := range seen {
				if w.Now() > at+windowSpan {
					delete(seen, k)
				} else if !w.Has(w.Hasher().HashUint64(k)) {
					t.Fatalf("key %d of time %d is absent at %d", k, at, w.Now())
				}
			}
			if got := w.Stats().FPRate; got > 1.05*rate { // one key of a small window changes its rate
				t.Fatalf("%d windows, %d keys: a rate of %g, want at most %g", len(w.list), len(seen), got, rate)
			}
		}
	})
}

// The rate is measured, while the keys become 1000 times as many as planned: new keys that are taken for known ones.
func TestWindowsRate(t *testing.T) {
	const rate, keys = 0.01, 100_000
	w := someWindows(t, 100, rate)
	mistaken := 0
	for k := range uint64(keys) {
		d := w.Hasher().HashUint64(k)
		if w.Has(d) {
			mistaken++
		}
		if _, err := w.TryAdd(d); err != nil {
			t.Fatal(err)
		}
	}
	want := rate * keys
	if sigma := math.Sqrt(want); float64(mistaken) > want+4*sigma {
		t.Errorf("%d of %d new keys were known, want at most %.0f", mistaken, keys, want)
	}
	if mistaken == 0 || len(w.list) < 9 || len(w.list) > 11 {
		t.Errorf("%d of the keys were known, and there are %d windows", mistaken, len(w.list))
	}
	if s := w.State(); s.Kind != union.Name || s.Tick != second || s.Planned.Keys < keys || s.Planned.FPRate != rate {
		t.Errorf("the state of kind %s is planned for %+v", s.Kind, s.Planned)
	}
}

// At a limit of memory a key is refused, and Add adds it all the same.
func TestWindowsLimit(t *testing.T) {
	w := someWindows(t, 100, 0.01)
	w.SetMaxBytes(4 * w.State().Bytes())
	var k uint64
	for ; ; k++ {
		before := w.State().Clone()
		if _, err := w.TryAdd(w.Hasher().HashUint64(k)); err == nil {
			continue
		} else if !errors.Is(err, umbel.ErrLimit) {
			t.Fatal(err)
		}
		if !w.State().Equal(before) || w.State().Bytes() > 4*before.Parts[0].Bytes() {
			t.Error("the refused key changed the windows")
		}
		break
	}
	if k < 250 || !w.Add(w.Hasher().HashUint64(k)) || !w.Has(w.Hasher().HashUint64(k)) {
		t.Errorf("%d keys were added before the limit, and a further one is absent", k)
	}
	if _, err := w.TryAdd(w.Hasher().HashUint64(k + 1)); !errors.Is(err, umbel.ErrLimit) {
		t.Errorf("after Add: error %v, want %v", err, umbel.ErrLimit)
	}
	windows := len(w.list)
	if w.SetMaxBytes(0); !w.Add(w.Hasher().HashUint64(k+1)) || len(w.list) != windows+1 {
		t.Errorf("without a limit there are %d windows, want %d", len(w.list), windows+1)
	}
	if w.Clear(); w.Has(w.Hasher().HashUint64(k)) || w.State().Kind != window.Name || w.State().Planned != w.First() {
		t.Errorf("after Clear: kind %s, planned %+v", w.State().Kind, w.State().Planned)
	}
}

// Beyond the limit Add measures only from time to time, since a measurement and a plan take as long as thousands of additions.
func TestWindowsBeyondLimit(t *testing.T) {
	w := someWindows(t, 10_000, 0.01)
	w.SetMaxBytes(w.State().Bytes())
	measured, last := 0, uint64(0)
	for k := range uint64(30_000) {
		if w.Add(w.Hasher().HashUint64(k)); w.retry != last {
			measured, last = measured+1, w.retry
		}
	}
	if measured == 0 || measured > 3*256 {
		t.Errorf("measured %d times, want 1 to %d times", measured, 3*256)
	}
}

// States of other filters, and of windows whose time another program chose, are opened by others.
func TestOpenWindowsRefuses(t *testing.T) {
	byKeys, err := window.New(100, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	byTime, err := window.NewTicks(umbel.Goal{Keys: 100, FPRate: 0.01}, windowSpan)
	if err != nil {
		t.Fatal(err)
	}
	unplanned, err := window.NewShape(byTime.Shape())
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		s    umbel.State
		tick uint64
		ok   bool
	}{
		"by keys":       {byKeys.State(), second, false},
		"by time":       {byTime.State(), second, true},
		"without tick":  {byTime.State(), 0, false},
		"unplanned":     {unplanned.State(), second, false},
		"another kind":  {scalableFilter(t).State(), second, false},
		"without parts": {umbel.State{Kind: union.Name, Notes: umbel.Notes{Tick: second, Planned: umbel.Planned{Keys: 1, FPRate: 0.1}}}, 0, false},
	} {
		if w, ok, err := OpenWindows(c.s.Clone(), c.tick); ok != c.ok || err != nil {
			t.Errorf("%s: %v, %v", name, ok, err)
		} else if ok && (w.First().Keys != 100 || w.State().Tick != second) {
			t.Errorf("%s: %+v", name, w.First())
		}
	}
}

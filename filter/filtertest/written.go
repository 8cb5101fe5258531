package filtertest

import (
	"encoding"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/delta"
	"github.com/umbel-filters/umbel/wire/hashtree"
)

// readsWhatItWrites: a goal of unusual numbers and parameters is planned and made, or refused with an error that
// wraps umbel.ErrGoal. Every filter that is made works up to its last state: its stats and forecasts are numbers in
// their ranges, and its state is read again from each of its encodings, as a filter that answers the same.
func readsWhatItWrites(t tb, v umbel.Kind) {
	for seed := range uint64(trials(60)) {
		rng := rand.New(rand.NewPCG(seed, 0x7265616473))
		g, ps := unusualGoal(rng), unusualParams(rng, v.Params)
		what := fmt.Sprintf("trial %d: %+v %v", seed, g, ps)
		var f umbel.Filter
		var err error
		if took := allocated(func() { f, _, err = try(t, v, g, ps) }); err != nil && took > 64<<20 {
			t.Errorf("%s: %d bytes were allocated before the error %v", what, took, err)
		}
		if err != nil {
			continue
		}
		if s, n, err := v.Shape(g, ps); err != nil {
			t.Errorf("%s: Plan returns a forecast, Shape the error %v", what, err)
		} else if p := panicked(func() { wantForecasts(t, s, n, what) }); p != nil {
			t.Fatalf("%s: a forecast panics: %v", what, p)
		}
		if f == nil {
			continue // it is large
		}
		if p := panicked(func() { throughItsLife(t, v, f, rng, what) }); p != nil {
			t.Fatalf("%s: panic: %v", what, p)
		}
	}
}

// wantForecasts fails unless the forecasts of a shape are in range, for n keys and any other number.
func wantForecasts(t tb, s umbel.Shape, n uint64, what string) {
	t.Helper()
	for _, keys := range []uint64{0, 1, n, 1 << 40, 1 << 53, 1 << 63, math.MaxUint64} {
		fc := s.Forecast(keys)
		if !(fc.FPRate >= 0 && fc.FPRate <= 1) || math.Signbit(fc.FPRate) || fc.Keys != keys || keys > 0 && (fc.Cells == 0 || !(fc.K > 0)) {
			t.Errorf("%s: the forecast for %d keys is %+v", what, keys, fc)
		}
	}
}

// throughItsLife changes a filter in all ways, up to its last state, and checks each state.
func throughItsLife(t tb, v umbel.Kind, f umbel.Filter, rng *rand.Rand, what string) {
	t.Helper()
	empty := f.State().Clone()
	readable := func(f umbel.Filter, ds []umbel.Digest, after string) {
		t.Helper()
		wantReadable(t, v, f, ds, what+", "+after)
		wantMarshals(t, v, f, empty, ds, what+", "+after)
	}
	readable(f, nil, "empty")
	one := digests(2, 1)
	f.Add(one[0])
	readable(f, one, "with one key")
	ds := toTheEnd(f)
	readable(f, ds, "grown")
	if a, ok := f.(umbel.Advancer); ok {
		for _, to := range []uint64{pick(rng, unusual.wholes), math.MaxUint64} {
			_ = a.Advance(to) // a time before the last one is an error
			f.Add(one[0])
			readable(f, one, fmt.Sprint("advanced to ", to))
		}
		ds = one
	}
	if _, ok := f.(umbel.Sealer); ok {
		seal(t, f)
		readable(f, ds, "sealed")
		f.Add(one[0])
		readable(f, ds, "with a key after Seal")
	}
	if m, ok := f.(umbel.Merger); ok && m.Merge(empty) == nil {
		readable(f, ds, "merged")
	}
	if o, ok := f.(umbel.Folder); ok {
		for _, u := range []uint64{2, 3, 64, 4096, 1 << 62, math.MaxUint64} {
			if (u > 1<<60 || f.State().Bytes() < 1<<19/u) && o.Unfold(u) == nil {
				readable(f, ds, fmt.Sprint("unfolded by ", u))
			}
		}
		for _, r := range []uint64{2, 3, 64, 1 << 62, math.MaxUint64} {
			if o.Fold(r) == nil {
				readable(f, ds, fmt.Sprint("folded by ", r))
			}
		}
	}
	if full, err := v.Open(withFullArrays(f.State())); err == nil {
		readable(full, nil, "with all cells set")
	}
	if c, ok := f.(umbel.Clearer); ok {
		c.Clear()
		readable(f, nil, "cleared")
	}
}

// wantReadable fails unless f has the keys ds, its stats are in their ranges, and its state is read again from all of
// its encodings.
func wantReadable(t tb, v umbel.Kind, f umbel.Filter, ds []umbel.Digest, what string) {
	t.Helper()
	wantAll(t, f, ds, what)
	stats, state := f.Stats(), f.State()
	wantConsistentStats(t, f, stats)
	if m := reflect.ValueOf(f).MethodByName("Shape"); m.IsValid() {
		wantForecasts(t, m.Call(nil)[0].Interface().(umbel.Shape), 1<<20, what)
	}
	from := func(encoding string, s umbel.State, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %s: %v", what, encoding, err)
		}
		if hashtree.Identify(s) != hashtree.Identify(state) || s.Planned != state.Planned {
			t.Fatalf("%s: from %s: %s", what, encoding, difference(s, state))
		}
		g, err := v.Open(s)
		if err != nil {
			t.Fatalf("%s: Open of the state from %s: %v", what, encoding, err)
		}
		wantState(t, g, state, what+", from "+encoding)
		if again := g.Stats(); again != stats {
			t.Errorf("%s: from %s with stats of %+v, want %+v", what, encoding, again, stats)
		}
		for _, d := range append(digests(3, 50), extreme...) {
			if a, b := g.Has(d), f.Has(d); a != b {
				t.Fatalf("%s: from %s: Has(%v) is %v, want %v", what, encoding, d, a, b)
			}
		}
	}
	from("a copy", state.Clone(), nil)
	plain, err := wire.Append(nil, state)
	if err != nil {
		t.Fatalf("%s: a container: %v", what, err)
	}
	s, err := wire.Parse(plain, wire.Limits{})
	from("a container", s, err)
	b, err := wire.Packer{}.Append(nil, state)
	if err != nil {
		t.Fatalf("%s: a packed container: %v", what, err)
	}
	s, err = wire.Parse(b, wire.Limits{})
	from("a packed container", s, err)
	if b, err = delta.Append(nil, state, state); err != nil {
		t.Fatalf("%s: a delta: %v", what, err)
	}
	s, err = delta.Apply(state, b, wire.Limits{})
	from("a delta", s, err)
}

// wantMarshals fails unless MarshalBinary writes f with the keys ds, and UnmarshalBinary of a filter with the state other
// reads it.
func wantMarshals(t tb, v umbel.Kind, f umbel.Filter, other umbel.State, ds []umbel.Digest, what string) {
	t.Helper()
	w, ok := f.(encoding.BinaryMarshaler)
	if !ok {
		return
	}
	b, err := w.MarshalBinary()
	if err != nil {
		t.Fatalf("%s: MarshalBinary: %v", what, err)
	}
	g, err := v.Open(other.Clone())
	if err == nil {
		err = g.(encoding.BinaryUnmarshaler).UnmarshalBinary(b)
	}
	if err != nil {
		t.Fatalf("%s: UnmarshalBinary: %v", what, err)
	}
	wantAll(t, g, ds, what+", from MarshalBinary")
	if _, seals := f.(umbel.Sealer); !seals { // MarshalBinary writes a sealed copy of a filter that is not sealed
		wantState(t, g, f.State(), what+", from MarshalBinary")
	}
}

package redisbloom_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
)

func reserve(t testing.TB, o redisbloom.Options) *redisbloom.Filter {
	t.Helper()
	f, err := redisbloom.Reserve(o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func digests(seed uint64, n int) []umbel.Digest {
	rng := rand.NewPCG(seed, 1)
	ds := make([]umbel.Digest, n)
	for i := range ds {
		ds[i] = umbel.Digest{H1: rng.Uint64(), H2: rng.Uint64()}
	}
	return ds
}

func addAll(f *redisbloom.Filter, ds []umbel.Digest) {
	for _, d := range ds {
		f.Add(d)
	}
}

func wantAll(t *testing.T, f *redisbloom.Filter, ds []umbel.Digest) {
	t.Helper()
	for _, d := range ds {
		if !f.Has(d) {
			t.Fatalf("Has(%v) is false: a false negative", d)
		}
	}
}

// TestExpansion: a hundred keys in a filter reserved for four give 23, 5 and 4 layers with
// expansions 1, 2 and 4. One or two keys may be false positives.
func TestExpansion(t *testing.T) {
	for expansion, want := range map[uint32]int{1: 23, 2: 5, 4: 4} {
		f := reserve(t, redisbloom.Options{ErrorRate: 0.01, Capacity: 4, Expansion: expansion})
		addAll(f, digests(1, 100))
		wantAll(t, f, digests(1, 100))
		got := f.Info()
		if least := (int(f.Card()) + 3) / 4; expansion == 1 && (got.Filters != least || got.Filters > 25) || expansion > 1 && got.Filters != want {
			t.Errorf("expansion %d: %d layers for %d items, want about %d", expansion, got.Filters, f.Card(), want)
		}
	}
}

// TestAlmeidaSection41: the rate of a chain of many layers stays below the reserved one (Almeida
// et al. 2007, section 4.1). The layers are large enough for double hashing.
func TestAlmeidaSection41(t *testing.T) {
	const rate, queries = 0.02, 200_000
	f := reserve(t, redisbloom.Options{ErrorRate: rate, Capacity: 2000})
	for i, n := range []int{2000, 4000, 8000, 16000, 32000} {
		addAll(f, digests(uint64(i), n))
		yes := 0
		for _, d := range digests(100+uint64(i), queries) {
			if f.Has(d) {
				yes++
			}
		}
		got, want := float64(yes)/queries, f.Stats().FPRate
		if sigma := math.Sqrt(want / queries); got > rate || math.Abs(got-want) > max(0.03*want, 3*sigma) {
			t.Errorf("%d layers: rate %.5f, estimated %.5f, reserved %v", f.Info().Filters, got, want, rate)
		}
	}
	if f.Info().Filters != 5 {
		t.Errorf("%d layers, want 5", f.Info().Filters)
	}
}

// TestNonScaling: a full filter that doesn't scale refuses absent keys in TryAdd, accepts
// present ones, and accepts all in Add at a higher rate.
func TestNonScaling(t *testing.T) {
	f := reserve(t, redisbloom.Options{ErrorRate: 0.01, Capacity: 100, NonScaling: true})
	ds := digests(1, 300)
	full := 0
	for i, d := range ds {
		if _, err := f.TryAdd(d); errors.Is(err, umbel.ErrLimit) {
			full++
			if f.Has(d) || f.Card() != 100 {
				t.Fatalf("key %d: refused with %d items, and Has is %v", i, f.Card(), f.Has(d))
			}
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if changed, err := f.TryAdd(ds[0]); changed || err != nil || full < 190 {
		t.Errorf("a present key: %v, %v; %d refused", changed, err, full)
	}
	addAll(f, ds)
	wantAll(t, f, ds)
	if f.Info().Filters != 1 {
		t.Errorf("%d layers, want 1", f.Info().Filters)
	}
}

// TestLimits: Add accepts keys even if the filter reached its memory limit or its lowest rate.
func TestLimits(t *testing.T) {
	f := reserve(t, redisbloom.Options{ErrorRate: 0.01, Capacity: 10})
	f.SetMaxBytes(100)
	low := reserve(t, redisbloom.Options{ErrorRate: 1e-322, Capacity: 1, Expansion: 1})
	for _, f := range []*redisbloom.Filter{f, low} {
		ds := digests(1, 200)
		refused := 0
		for _, d := range ds {
			if _, err := f.TryAdd(d); err != nil {
				if refused++; !errors.Is(err, umbel.ErrLimit) {
					t.Fatal(err)
				}
			}
		}
		if refused < 100 {
			t.Errorf("%d keys were refused: %+v", refused, f.Info())
		}
		addAll(f, ds)
		wantAll(t, f, ds)
	}
	if f.Info().Size > 32+64*uint64(f.Info().Filters)+100 {
		t.Errorf("%+v, want at most 100 bytes of bits", f.Info())
	}
}

func TestReserveRefuses(t *testing.T) {
	for _, o := range []redisbloom.Options{
		{},
		{ErrorRate: 0.1},
		{Capacity: 1},
		{ErrorRate: 1, Capacity: 1},
		{ErrorRate: math.NaN(), Capacity: 1},
		{ErrorRate: 5e-324, Capacity: 1},
		{ErrorRate: 0.1, Capacity: redisbloom.MaxCapacity + 1},
		{ErrorRate: 0.1, Capacity: 1, Expansion: redisbloom.MaxExpansion + 1},
	} {
		if f, err := redisbloom.Reserve(o); !errors.Is(err, umbel.ErrGoal) {
			t.Errorf("%+v: %v, %v, want ErrGoal", o, f, err)
		}
	}
}

// TestOptions: a filter's Options make another filter of the same design.
func TestOptions(t *testing.T) {
	for _, o := range []redisbloom.Options{
		{ErrorRate: 0.001, Capacity: 500, Expansion: 3},
		{ErrorRate: 0.2, Capacity: 7, Expansion: 2, NonScaling: true},
	} {
		f := reserve(t, o)
		addAll(f, digests(1, 2000))
		if got := f.Options(); got != o {
			t.Errorf("%+v, want %+v", got, o)
		}
	}
}

// TestKnownSizes: sizes that users of RedisBloom have published.
func TestKnownSizes(t *testing.T) {
	f := reserve(t, redisbloom.Options{ErrorRate: 0.001, Capacity: 2000})
	if got := f.Info().Size; got != 4056 {
		t.Errorf("0.001 for 2000: size %d, want 4056", got)
	}
	f = reserve(t, redisbloom.Options{ErrorRate: 0.001, Capacity: 50000})
	if got, want := f.Debug()[1], "bytes:98880 bits:791040 hashes:11 hashwidth:64 capacity:50000 size:0 ratio:0.0005"; got != want {
		t.Errorf("0.001 for 50000: %s, want %s", got, want)
	}
	fc := redisbloom.Options{ErrorRate: 1e-6, Capacity: 300_000_000}.Forecast(1)
	if got := fc.Bytes + 96; got != 1132420232 {
		t.Errorf("1e-6 for 300 million: size %d, want 1132420232", got)
	}
}

// TestMerge: filters with the same options are united layer by layer, whichever has more layers.
// The union is the same in either order and after repeated merges.
func TestMerge(t *testing.T) {
	o := redisbloom.Options{ErrorRate: 0.01, Capacity: 1000}
	built := func(n int, seed uint64) *redisbloom.Filter {
		f := reserve(t, o)
		addAll(f, digests(seed, n))
		return f
	}
	for _, n := range [][2]int{{300, 400}, {500, 5000}, {5000, 500}, {4000, 4000}, {0, 700}} {
		union := built(n[0], 1)
		if err := union.Merge(built(n[1], 2).State()); err != nil {
			t.Fatal(err)
		}
		all := slices.Concat(digests(1, n[0]), digests(2, n[1]))
		wantAll(t, union, all)
		if got, want := float64(union.Card()), float64(len(all)); math.Abs(got-want) > 0.05*want {
			t.Errorf("%d and %d keys: %v items", n[0], n[1], got)
		}
		other := built(n[1], 2)
		if err := other.Merge(built(n[0], 1).State()); err != nil {
			t.Fatal(err)
		}
		same(t, other, union)
		before := union.State().Clone()
		for _, s := range []umbel.State{before, other.State(), built(n[0], 1).State()} {
			if err := union.Merge(s); err != nil {
				t.Fatal(err)
			}
		}
		again, err := redisbloom.Open(before)
		if err != nil {
			t.Fatal(err)
		}
		same(t, union, again)
	}
	for _, other := range []redisbloom.Options{
		{ErrorRate: 0.02, Capacity: 1000},
		{ErrorRate: 0.01, Capacity: 1001},
		{ErrorRate: 0.01, Capacity: 1000, Expansion: 3},
		{ErrorRate: 0.01, Capacity: 1000, NonScaling: true},
	} {
		if err := built(10, 1).Merge(reserve(t, other).State()); !errors.Is(err, umbel.ErrMismatch) {
			t.Errorf("%+v: %v, want ErrMismatch", other, err)
		}
	}
}

// same fails unless two filters have the same dump.
func same(t *testing.T, got, want *redisbloom.Filter) {
	t.Helper()
	a, b := dump(t, got), dump(t, want)
	if len(a) != len(b) {
		t.Fatalf("%d chunks, want %d", len(a), len(b))
	}
	for i := range a {
		if a[i].iter != b[i].iter || string(a[i].data) != string(b[i].data) {
			t.Fatalf("chunk %d of %d differs: %v, want %v", i, len(a), got.Debug(), want.Debug())
		}
	}
}

type chunk struct {
	iter int64
	data []byte
}

func dump(t testing.TB, f *redisbloom.Filter) []chunk {
	t.Helper()
	seq, err := f.Chunks()
	if err != nil {
		t.Fatal(err)
	}
	var cs []chunk
	for iter, data := range seq {
		cs = append(cs, chunk{iter, data})
	}
	return cs
}

// TestSailhanEquation3: a folded layer equals the layer of the smaller size with the same keys
// (Sailhan and Stehr 2012, equation (3), as printed).
func TestSailhanEquation3(t *testing.T) {
	o := redisbloom.Options{ErrorRate: 0.01, Capacity: 2000, NonScaling: true}
	empty := reserve(t, o)
	words := empty.Info().Size/8 - 12
	ds := digests(1, 1500)
	for r := uint64(1); r <= words; r++ {
		f, small := reserve(t, o), reserve(t, o)
		addAll(f, ds)
		errs := [2]error{f.Fold(r), small.Fold(r)}
		if words%r != 0 {
			if !errors.Is(errs[0], umbel.ErrMismatch) {
				t.Errorf("%d words folded by %d: %v, want ErrMismatch", words, r, errs[0])
			}
			continue
		}
		if errs != [2]error{} {
			t.Fatalf("%d words folded by %d: %v", words, r, errs)
		}
		addAll(small, ds)
		wantAll(t, f, ds)
		if !f.State().Parts[0].Arrays[0].Equal(small.State().Parts[0].Arrays[0]) {
			t.Errorf("folded by %d: the bits differ from those of the smaller layer", r)
		}
	}
}

// TestUnfoldRefuses: Unfold to a size that exceeds any memory is refused and changes nothing.
func TestUnfoldRefuses(t *testing.T) {
	f := reserve(t, redisbloom.Options{ErrorRate: 0.01, Capacity: 10})
	addAll(f, digests(1, 10))
	bits := f.State().Parts[0].Arrays[0].Len
	for _, u := range []uint64{0, 1 << 56 / bits, 1<<56/bits + 1, 1<<64 - 1} {
		if err := f.Unfold(u); !errors.Is(err, umbel.ErrMismatch) {
			t.Errorf("Unfold(%d): %v, want ErrMismatch", u, err)
		}
	}
	if now := f.State().Parts[0].Arrays[0].Len; now != bits {
		t.Errorf("%d bits, want %d as before", now, bits)
	}
	wantAll(t, f, digests(1, 10))
}

// counting returns a filter of ds whose first layer has the given number of entries.
func counting(t *testing.T, entries uint64, ds []umbel.Digest) *redisbloom.Filter {
	t.Helper()
	f := reserve(t, redisbloom.Options{ErrorRate: 0.01, Capacity: 50})
	addAll(f, ds)
	s := f.State()
	s.Parts[0].Params[1].Value = umbel.Uint(entries)
	g, err := redisbloom.Open(s)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// A filter counts at most as many entries as its state and its dump may have, and accepts
// keys beyond that.
func TestEntriesAtTheirEnd(t *testing.T) {
	for _, entries := range []uint64{math.MaxUint64, math.MaxUint64 - 1, math.MaxUint64 - 100} {
		f := counting(t, entries, nil)
		ds := digests(1, 300)
		addAll(f, ds[:150])
		f.AddAll(nil, ds[150:])
		wantAll(t, f, ds)
		if f.Card() != math.MaxUint64 || f.Info().Items != math.MaxUint64 {
			t.Errorf("%d entries and 300 keys more: %d items, want 2^64 - 1", entries, f.Card())
		}
		if _, err := redisbloom.Open(f.State().Clone()); err != nil {
			t.Errorf("%d entries and 300 keys more: %v", entries, err)
		}
		chunks, err := f.Chunks()
		if err != nil {
			t.Fatal(err)
		}
		g, err := loadAll(chunks)
		if err != nil {
			t.Fatalf("%d entries and 300 keys more: %v", entries, err)
		}
		same(t, g, f)
	}
}

// A union counts at most as many entries as its state may have.
func TestMergeOfMostEntries(t *testing.T) {
	ds, others := digests(1, 40), digests(2, 500)
	more := reserve(t, redisbloom.Options{ErrorRate: 0.01, Capacity: 50})
	addAll(more, others)
	for what, f := range map[string]*redisbloom.Filter{
		"more layers":   counting(t, math.MaxUint64, ds),
		"half of them":  counting(t, 1<<63+100, ds),
		"hardly enough": counting(t, math.MaxUint64-600, ds),
	} {
		was := f.Card()
		for range 2 {
			for _, g := range []*redisbloom.Filter{more, counting(t, 1<<63+100, others[:40])} {
				if err := f.Merge(g.State()); err != nil {
					t.Fatal(err)
				}
				again, err := redisbloom.Open(f.State().Clone())
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				wantAll(t, again, slices.Concat(ds, others[:40]))
				if f.Card() < was {
					t.Errorf("%s: %d items, want %d as before", what, f.Card(), was)
				}
			}
		}
		wantAll(t, f, others)
	}
}

// If all bits of a union are set, the estimate of its keys is infinite. The union then has
// the entries of both filters.
func TestMergeToFullLayer(t *testing.T) {
	half := func(pattern uint64, entries uint64) umbel.State {
		s := reserve(t, redisbloom.Options{ErrorRate: 0.01, Capacity: 50}).State().Clone()
		for i := range s.Parts[0].Arrays[0].Words {
			s.Parts[0].Arrays[0].Words[i] = pattern
		}
		s.Parts[0].Params[1].Value = umbel.Uint(entries)
		return s
	}
	const even, odd = 0x5555555555555555, 0xaaaaaaaaaaaaaaaa
	for _, c := range []struct{ a, b, want uint64 }{
		{30, 20, 50}, {1 << 63, 1 << 63, math.MaxUint64}, {math.MaxUint64, 1, math.MaxUint64},
		{math.MaxUint64 - 1, 0, math.MaxUint64 - 1},
	} {
		f, err := redisbloom.Open(half(even, c.a))
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Merge(half(odd, c.b)); err != nil {
			t.Fatal(err)
		}
		if f.Card() != c.want {
			t.Errorf("%d and %d entries: %d in the union, want %d", c.a, c.b, f.Card(), c.want)
		}
	}
}

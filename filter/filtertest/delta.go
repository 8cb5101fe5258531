package filtertest

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/delta"
	"github.com/umbel-filters/umbel/wire/hashtree"
)

// deltaRoundTrip: after any sequence of changes, the delta from the previous state to the
// current one, applied to the previous state, gives the current state bit for bit. A packed
// container does, too. The kind and the hasher of a filter never change, since a delta does not
// contain them.
func deltaRoundTrip(t tb, v umbel.Kind) {
	histories := 80
	if testing.Short() {
		histories = 5
	}
	made := make(map[uint64]umbel.Filter)
	for seed := range uint64(histories) {
		rng := rand.New(rand.NewPCG(seed, 0x64656c7461))
		n := sizes[0] << (seed % 4)
		if seed%40 == 0 {
			n = sizes[1]
		}
		if made[n] == nil {
			made[n] = newFilter(t, v, n)
		}
		f := copyOf(t, v, made[n])
		reader := f.State().Clone()
		var id wire.ID
		for range 5 {
			what := changeAtRandom(rng, f, func() umbel.Filter { return copyOf(t, v, made[n]) }, n)
			now := f.State()
			to := hashtree.Identify(now)
			message, err := delta.Encoder{Base: id, Result: to}.Append(nil, reader, now)
			if err != nil {
				t.Fatalf("n=%d, %s: delta.Append: %v", n, what, err)
			}
			got, err := delta.Decoder{Base: id}.Apply(reader, message)
			if err != nil {
				t.Fatalf("n=%d, %s: delta.Apply: %v", n, what, err)
			}
			if !equal(got, now) {
				t.Fatalf("n=%d, %s: after applying a delta: %s", n, what, difference(got, now))
			}
			if most := packed(t, now) + deltaRoom(now); len(message) > most {
				t.Errorf("n=%d, %s: a delta of %d bytes, want at most %d, a packed container and the overhead", n, what, len(message), most)
			}
			info, err := delta.Inspect(message)
			if err != nil || !info.Result.Begins(to) {
				t.Fatalf("n=%d, %s: delta.Inspect: result %v, %v, want the beginning of %v", n, what, info.Result, err, to)
			}
			reader, id = got, to
		}
		g, err := v.Open(reader.Clone())
		if err != nil {
			t.Fatalf("Open of the state that deltas made: %v", err)
		}
		wantState(t, g, f.State(), "opened from the state that deltas made")
	}
}

// deltaRoom returns by how many bytes a delta may be larger than a container: its header, and
// its description of each state and array.
func deltaRoom(s umbel.State) int {
	room := 80 + 16*len(s.Arrays)
	for _, p := range s.Parts {
		room += deltaRoom(p)
	}
	return room
}

// packed returns the length of the packed container of a state. It fails unless the container
// parses to that state.
func packed(t tb, s umbel.State) int {
	t.Helper()
	b, err := wire.Packer{}.Append(nil, s)
	if err != nil {
		t.Fatalf("wire.Packer: %v", err)
	}
	got, err := wire.Parse(b, wire.Limits{Bytes: max(s.Bytes(), 1)})
	if err != nil {
		t.Fatalf("wire.Parse of a packed container: %v", err)
	}
	if !equal(got, s) {
		t.Fatalf("from a packed container: %s", difference(got, s))
	}
	return len(b)
}

// changes are what a test may do with a filter. Each returns false if the filter does not
// support it.
var changes = []struct {
	what string
	do   func(rng *rand.Rand, f, other umbel.Filter, ds []umbel.Digest) bool
}{
	{"additions", func(_ *rand.Rand, f, _ umbel.Filter, ds []umbel.Digest) bool {
		umbel.AddAll(f, nil, ds)
		return true
	}},
	{"few additions", func(_ *rand.Rand, f, _ umbel.Filter, ds []umbel.Digest) bool {
		umbel.AddAll(f, nil, ds[:min(len(ds), 3)])
		return true
	}},
	{"nothing", func(*rand.Rand, umbel.Filter, umbel.Filter, []umbel.Digest) bool { return true }},
	{"removals", func(_ *rand.Rand, f, _ umbel.Filter, ds []umbel.Digest) bool {
		r, ok := f.(umbel.Remover)
		for _, d := range ds {
			if ok && f.Has(d) {
				r.Remove(d)
			}
		}
		return ok
	}},
	{"a fold", func(rng *rand.Rand, f, _ umbel.Filter, _ []umbel.Digest) bool {
		g, ok := f.(umbel.Folder)
		return ok && g.Fold(2+rng.Uint64N(4)) == nil
	}},
	{"an unfold", func(rng *rand.Rand, f, _ umbel.Filter, ds []umbel.Digest) bool {
		g, ok := f.(umbel.Folder)
		if !ok || g.Unfold(1+rng.Uint64N(4)) != nil {
			return false
		}
		umbel.AddAll(f, nil, ds[:len(ds)/2])
		return true
	}},
	{"a merge", func(_ *rand.Rand, f, other umbel.Filter, ds []umbel.Digest) bool {
		m, ok := f.(umbel.Merger)
		umbel.AddAll(other, nil, ds)
		return ok && m.Merge(other.State()) == nil
	}},
	{"an advance", func(rng *rand.Rand, f, _ umbel.Filter, ds []umbel.Digest) bool {
		a, ok := f.(umbel.Advancer)
		if !ok || a.Advance(rng.Uint64()>>rng.UintN(64)) != nil { // an earlier time is refused
			return false
		}
		umbel.AddAll(f, nil, ds)
		return true
	}},
	{"a compaction", func(_ *rand.Rand, f, _ umbel.Filter, _ []umbel.Digest) bool {
		c, ok := f.(interface{ Compact(p float64) error })
		return ok && c.Compact(0.05) == nil
	}},
	{"a seal", func(_ *rand.Rand, f, _ umbel.Filter, _ []umbel.Digest) bool {
		s, ok := f.(umbel.Sealer)
		return ok && s.Seal() == nil
	}},
	{"a clear", func(_ *rand.Rand, f, _ umbel.Filter, ds []umbel.Digest) bool {
		c, ok := f.(umbel.Clearer)
		if ok {
			c.Clear()
			umbel.AddAll(f, nil, ds)
		}
		return ok
	}},
}

// changeAtRandom makes one of the changes to a filter for n keys and returns its name. empty
// makes another filter of the same shape.
func changeAtRandom(rng *rand.Rand, f umbel.Filter, empty func() umbel.Filter, n uint64) string {
	for {
		// The digests are from six sets, so that removals often find present keys.
		ds := digests(1+rng.Uint64N(6), 1+rng.IntN(int(n)))
		h := changes[rng.IntN(len(changes))]
		if h.do(rng, f, empty(), ds) {
			return h.what
		}
	}
}

// onlyBits reports whether the first array of a state, and of each of its parts, has cells of
// one bit. Other arrays may be tables.
func onlyBits(s umbel.State) bool {
	if len(s.Arrays) > 0 && s.Arrays[0].Width > 1 {
		return false
	}
	return !slices.ContainsFunc(s.Parts, func(p umbel.State) bool { return !onlyBits(p) })
}

// refineRestoresFolded: a refinement turns a fold back into the full filter. If the cells are
// bits, its size is about the difference of the two entropies: H(B) = H(fold) + H(B | fold).
// Filters that are lists are skipped, since their arrays do not contain the cells.
func refineRestoresFolded(t tb, v umbel.Kind) {
	for _, n := range sizes {
		f := newFilter(t, v, n)
		as[umbel.Folder](t, f)
		if _, ok := f.(umbel.PositionLister); ok {
			t.Skipf("the state is a list")
		}
		unfolded(t, v, f, 12)
		addAll(f, slices.Concat(digests(1, int(n)), extreme))
		for _, r := range []uint64{1, 2, 3, 12} {
			small := copyOf(t, v, f)
			fold(t, small, r)
			message, err := delta.Append(nil, small.State(), f.State())
			if err != nil {
				t.Fatalf("n=%d: delta.Append of the fold by %d: %v", n, r, err)
			}
			got, err := delta.Apply(small.State(), message, wire.Limits{})
			if err != nil {
				t.Fatalf("n=%d: delta.Apply to the fold by %d: %v", n, r, err)
			}
			if !equal(got, f.State()) {
				t.Fatalf("n=%d: the refined fold by %d: %s", n, r, difference(got, f.State()))
			}
			if r == 1 {
				continue
			}
			whole, part := packed(t, f.State()), packed(t, small.State())
			if most := whole - part + whole/20 + 200; onlyBits(f.State()) && len(message) > most {
				t.Errorf("n=%d: a refinement of %d bytes of the fold by %d, from %d to %d bytes packed, want at most %d", n, len(message), r, part, whole, most)
			}
		}
	}
}

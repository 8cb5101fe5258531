package filtertest

import (
	"errors"
	"math/rand/v2"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
)

// torn: of a kind that is monotone, a copy of the planes made piece by piece in any
// order, with additions between, has the filter's planes once it is given again the
// additions since the copy began. With the filter's other numbers it is a state of the
// kind, before and after.
func torn(t tb, v umbel.Kind) {
	if !v.Monotone {
		t.Skipf("%s isn't monotone", v.Name)
	}
	for _, n := range sizes {
		for seed := range uint64(8) {
			rng := rand.New(rand.NewPCG(seed, n))
			f := make1(t, v, n)
			addAll(f, digests(1, int(n)*int(seed)/4)) // from empty to more than planned
			stopGrowth(t, f)
			begin := f.State()
			copied := begin.Clone()
			pieces := torn1(begin, rng)
			for _, p := range planesOf(copied) {
				p.Clear()
			}
			from, to := planesOf(begin), planesOf(copied)
			// The last digests are so many that some take what room there is.
			fresh := append(digests(seed+2, int(n)), extreme...)
			var since []umbel.Digest
			for i, p := range pieces {
				copy(to[p.plane].Words[p.from:p.to], from[p.plane].Words[p.from:p.to])
				for _, d := range fresh[len(fresh)*i/len(pieces) : len(fresh)*(i+1)/len(pieces)] {
					if add1(t, f, d) {
						since = append(since, d)
					}
				}
			}
			end := f.State()
			if !sameShape(begin, end) {
				t.Fatalf("n=%d: the filter grew, or changed its planes otherwise, with no room to", n)
			}
			g, err := v.Open(withPlanes(end.Clone(), to))
			if err != nil {
				t.Fatalf("n=%d: Open of a torn copy, with the filter's numbers: %v", n, err)
			}
			stopGrowth(t, g)
			if seed%2 == 0 {
				umbel.AddAll(g, nil, since)
			} else {
				addAll(g, since)
			}
			again := g.State()
			if !sameShape(again, end) {
				t.Fatalf("n=%d: a torn copy that is given additions again has other planes", n)
			}
			for i, p := range planesOf(again) {
				if want := planesOf(end)[i]; !p.Equal(want) {
					t.Fatalf("n=%d: torn, and given %d additions again, plane %d: %s", n, len(since), i, planeDifference(p, want))
				}
			}
			whole, err := v.Open(withPlanes(end, planesOf(again)))
			if err != nil {
				t.Fatalf("n=%d: Open of a torn copy made whole, with the filter's numbers: %v", n, err)
			}
			wantState(t, whole, end, "torn and made whole")
			wantAll(t, whole, since, "torn and made whole")
		}
	}
}

// add1 adds d, unless a filter that may not grow refuses it, and reports whether the
// filter changed.
func add1(t tb, f umbel.Filter, d umbel.Digest) bool {
	t.Helper()
	g, ok := f.(umbel.Grower)
	if !ok {
		return f.Add(d)
	}
	changed, err := g.TryAdd(d)
	if err != nil && !errors.Is(err, umbel.ErrLimit) {
		t.Fatalf("TryAdd(%v): %v", d, err)
	}
	return changed
}

// stopGrowth leaves a filter that grows no room to.
func stopGrowth(t tb, f umbel.Filter) {
	t.Helper()
	if _, grows := f.(umbel.Grower); !grows {
		return
	}
	l, ok := f.(interface{ SetMaxBytes(uint64) })
	if !ok {
		t.Fatalf("%T is monotone and grows, and has no SetMaxBytes", f)
	}
	l.SetMaxBytes(1)
}

// piece is a run of words of a plane.
type piece struct {
	plane    int
	from, to int
}

// torn1 cuts the planes of a state into pieces, in random order.
func torn1(s umbel.State, rng *rand.Rand) []piece {
	var all []piece
	for i, p := range planesOf(s) {
		for from := 0; from < len(p.Words); {
			to := min(len(p.Words), from+1+rng.IntN(max(1, len(p.Words)/5)))
			all = append(all, piece{i, from, to})
			from = to
		}
	}
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// planesOf returns the planes of a state and then those of its parts, depth first.
func planesOf(s umbel.State) []cells.Array {
	all := slices.Clone(s.Arrays)
	for _, p := range s.Parts {
		all = append(all, planesOf(p)...)
	}
	return all
}

// withPlanes returns s with other planes, in the order of planesOf.
func withPlanes(s umbel.State, planes []cells.Array) umbel.State {
	s, _ = replaced(s, planes)
	return s
}

func replaced(s umbel.State, planes []cells.Array) (umbel.State, []cells.Array) {
	n := len(s.Arrays)
	s.Arrays, planes = planes[:n:n], planes[n:]
	s.Parts = slices.Clone(s.Parts)
	for i := range s.Parts {
		s.Parts[i], planes = replaced(s.Parts[i], planes)
	}
	return s, planes
}

// sameShape reports whether two states have as many planes, of the same sizes.
func sameShape(a, b umbel.State) bool {
	return slices.EqualFunc(planesOf(a), planesOf(b), func(p, q cells.Array) bool {
		return p.Len == q.Len && max(p.Width, 1) == max(q.Width, 1)
	})
}

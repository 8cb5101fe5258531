package filtertest

import (
	"errors"
	"math/rand/v2"

	"github.com/umbel-filters/umbel"
)

// tornCopyRecovers: if a kind is monotone, a copy of the arrays that is made piece by piece, in
// any order and with additions in between, becomes equal to the filter's arrays when the
// additions since the start of the copy are repeated. With the filter's other numbers it is a
// valid state, before and after.
func tornCopyRecovers(t tb, v umbel.Kind) {
	if !v.Monotone {
		t.Skipf("%s isn't monotone", v.Name)
	}
	for _, n := range sizes {
		for seed := range uint64(8) {
			rng := rand.New(rand.NewPCG(seed, n))
			f := newFilter(t, v, n)
			addAll(f, digests(1, int(n)*int(seed)/4)) // from empty to more than planned
			stopGrowth(t, f)
			begin := f.State()
			copied := begin.Clone()
			pieces := randomPieces(begin, rng)
			for _, p := range copied.AllArrays() {
				p.Clear()
			}
			from, to := begin.AllArrays(), copied.AllArrays()
			// These are enough digests to fill the filter to its limit.
			fresh := append(digests(seed+2, int(n)), extreme...)
			var since []umbel.Digest
			for i, p := range pieces {
				copy(to[p.array].Words[p.from:p.to], from[p.array].Words[p.from:p.to])
				for _, d := range fresh[len(fresh)*i/len(pieces) : len(fresh)*(i+1)/len(pieces)] {
					if tryAdd(t, f, d) {
						since = append(since, d)
					}
				}
			}
			end := f.State()
			if !begin.SameShape(end) {
				t.Fatalf("n=%d: the arrays changed their sizes, although the filter may not grow", n)
			}
			g, err := v.Open(end.Clone().WithArrays(to))
			if err != nil {
				t.Fatalf("n=%d: Open of a torn copy with the filter's numbers: %v", n, err)
			}
			stopGrowth(t, g)
			if seed%2 == 0 {
				umbel.AddAll(g, nil, since)
			} else {
				addAll(g, since)
			}
			again := g.State()
			if !again.SameShape(end) {
				t.Fatalf("n=%d: the arrays of a torn copy changed their sizes after repeated additions", n)
			}
			for i, p := range again.AllArrays() {
				if want := end.AllArrays()[i]; !p.Equal(want) {
					t.Fatalf("n=%d: a torn copy after %d repeated additions, array %d: %s", n, len(since), i, arrayDifference(p, want))
				}
			}
			whole, err := v.Open(end.WithArrays(again.AllArrays()))
			if err != nil {
				t.Fatalf("n=%d: Open of a repaired copy with the filter's numbers: %v", n, err)
			}
			wantState(t, whole, end, "a repaired copy")
			wantAll(t, whole, since, "a repaired copy")
		}
	}
}

// tryAdd adds d unless the filter refuses it since it may not grow, and reports whether the
// filter changed.
func tryAdd(t tb, f umbel.Filter, d umbel.Digest) bool {
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

// stopGrowth limits the memory of a filter so that it can't grow.
func stopGrowth(t tb, f umbel.Filter) {
	t.Helper()
	if _, grows := f.(umbel.Grower); !grows {
		return
	}
	l, ok := f.(interface{ SetMaxBytes(uint64) })
	if !ok {
		t.Fatalf("%T is monotone and grows, but has no SetMaxBytes", f)
	}
	l.SetMaxBytes(1)
}

// piece is a range of words of an array.
type piece struct {
	array    int
	from, to int
}

// randomPieces cuts the arrays of a state into pieces, in random order.
func randomPieces(s umbel.State, rng *rand.Rand) []piece {
	var all []piece
	for i, p := range s.AllArrays() {
		for from := 0; from < len(p.Words); {
			to := min(len(p.Words), from+1+rng.IntN(max(1, len(p.Words)/5)))
			all = append(all, piece{i, from, to})
			from = to
		}
	}
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

package filter_test

import (
	"math"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/compare"
	"github.com/umbel-filters/umbel/filter/foreign/nixbloom"
	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// unfoldStep adds keys after an Unfold by factor.
type unfoldStep struct {
	factor uint64
	keys   int
}

// unfoldHistories are histories of unfolded filters, with 1000 keys each.
var unfoldHistories = [][]unfoldStep{
	{{1, 1000}}, // not unfolded
	{{1, 500}, {3, 500}},
	{{1, 500}, {2, 0}, {2, 500}}, // by 4
	{{1, 500}, {7, 500}},
	{{1, 300}, {2, 400}, {3, 300}},
	{{1, 250}, {4, 750}},
}

// doubleHashing are the kinds whose rate depends on the size as well as on the fill ratio: Stats does not find that
// a larger filter has copies.
var doubleHashing = map[string]bool{redisbloom.Name: true, nixbloom.Name: true}

// folders calls f for each kind whose filters unfold, with a function that returns an empty one.
func folders(t *testing.T, keys uint64, f func(t *testing.T, kind string, empty func() umbel.Filter)) {
	for _, kind := range filter.All {
		empty := func() (umbel.Filter, error) { return kind.New(umbel.Goal{Keys: keys, FPRate: 0.01}, nil) }
		made, err := empty()
		if err != nil {
			continue // the kind has no such goal
		}
		if _, ok := made.(umbel.Folder); ok {
			t.Run(kind.Name, func(t *testing.T) {
				f(t, kind.Name, func() umbel.Filter { return fixture.Must(empty()) })
			})
		}
	}
}

// TestKeysAfterUnfold: the interval of Stats contains the number of keys in at least 93 % of filters
// that were unfolded, once or several times, and filled further.
func TestKeysAfterUnfold(t *testing.T) {
	const n = 1000
	trials, least := 400, 0.93 // of 95 %
	if testing.Short() {
		trials, least = 100, 0.89
	}
	folders(t, n, func(t *testing.T, kind string, empty func() umbel.Filter) {
		for _, history := range unfoldHistories {
			inside, sum, width := 0, 0.0, 0.0
			for trial := range trials {
				ds := fixture.Digests(uint64(trial), n)
				f := empty()
				for _, step := range history {
					before := f.Stats().FPRate
					if err := f.(umbel.Folder).Unfold(step.factor); err != nil {
						t.Fatal(err)
					}
					if after := f.Stats().FPRate; !doubleHashing[kind] && math.Abs(after-before) > 1e-9 {
						t.Fatalf("a rate of %v before Unfold and %v after it, want the same", before, after)
					}
					umbel.AddAll(f, nil, ds[:step.keys])
					ds = ds[step.keys:]
				}
				s := f.Stats()
				if s.Low <= n && n <= s.High {
					inside++
				}
				sum += s.Keys / float64(trials)
				width += (s.High - s.Low) / float64(trials)
			}
			t.Logf("%v: %.1f %% inside, %.1f on average, a width of %.0f", history, 100*float64(inside)/float64(trials), sum, width)
			if float64(inside) < least*float64(trials) || math.Abs(sum/n-1) > 0.01 {
				t.Errorf("%v: %d of %d intervals contain %d, %.1f on average, want a share of %v and %[4]d", history, inside, trials, n, sum, least)
			}
		}
	})
}

// TestOverlapAfterUnfold: an estimate of an overlap counts no copies, of whichever filter.
func TestOverlapAfterUnfold(t *testing.T) {
	ds := fixture.Digests(1, 9000)
	for _, factors := range [][2]uint64{{1, 1}, {3, 1}, {3, 3}, {2, 3}} {
		sides := [2]*bloom.Filter{fixture.Must(bloom.New(8000, 0.01)), fixture.Must(bloom.New(8000, 0.01))}
		for i, keys := range [][]umbel.Digest{ds[:6000], ds[3000:]} {
			sides[i].AddAll(nil, keys[:4000])
			if err := sides[i].Unfold(factors[i]); err != nil {
				t.Fatal(err)
			}
			sides[i].AddAll(nil, keys[4000:])
		}
		o, err := compare.Of(filter.All, sides[0], sides[1])
		if err != nil || o.Union.Low > 9000 || o.Union.High < 9000 {
			t.Errorf("%d: a union of %v keys, %v, want 9000", factors, o.Union, err)
		}
		if o.Both.Low > 3000 || o.Both.High < 3000 {
			t.Errorf("%d: an intersection of %v keys, want 3000", factors, o.Both)
		}
	}
}

package fold

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter"
	"pgregory.net/rapid"
)

// digests returns n distinct digests.
func digests(n int) []umbel.Digest {
	ds := make([]umbel.Digest, n)
	for i := range ds {
		ds[i] = umbel.Hasher{}.HashString(fmt.Sprint("key ", i))
	}
	return ds
}

// foldable returns the kinds that fold.
func foldable() umbel.Kinds {
	return slices.DeleteFunc(slices.Clone(filter.All), func(v umbel.Kind) bool {
		f, err := v.New(umbel.Goal{FPRate: 0.01, Keys: 100}, nil)
		_, folds := f.(umbel.Folder)
		return err == nil && !folds
	})
}

// sized returns a filter of the kind with many factors and n keys in it.
func sized(t *testing.T, v umbel.Kind, n int) umbel.Filter {
	t.Helper()
	f, err := v.New(umbel.Goal{FPRate: 0.01, Bytes: 64 * 7 * 60}, nil)
	if err != nil {
		t.Fatal(err)
	}
	umbel.AddAll(f, nil, digests(n))
	return f
}

// A fold goes into new memory: the ladder counts on it, since it tries several.
func TestFoldKeeps(t *testing.T) {
	for _, v := range foldable() {
		f := sized(t, v, 500)
		before := f.State().Clone()
		l, err := newLadder(filter.All, f)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range l.factors {
			if _, err := l.fold(r); err != nil {
				t.Errorf("%s by %d: %v", v.Name, r, err)
			}
		}
		if !slices.EqualFunc(f.State().Arrays, before.Arrays, cells.Array.Equal) {
			t.Errorf("%s changed when it was folded elsewhere", v.Name)
		}
		if len(l.factors) < 10 {
			t.Errorf("%s of %d cells folds by %d only", v.Name, f.Stats().Cells, l.factors)
		}
	}
}

// No factor beyond the one found keeps the rate, nor does the next one fit less.
func TestToRate(t *testing.T) {
	for _, v := range foldable() {
		t.Run(v.Name, func(t *testing.T) {
			ladders := map[int]*ladder{}
			for _, n := range []int{10, 100, 1000} {
				l, err := newLadder(filter.All, sized(t, v, n))
				if err != nil {
					t.Fatal(err)
				}
				ladders[n] = l
			}
			rapid.Check(t, func(t *rapid.T) {
				l := ladders[rapid.SampledFrom([]int{10, 100, 1000}).Draw(t, "n")]
				p := math.Exp(-rapid.Float64Range(0.01, 12).Draw(t, "-ln p"))
				f, r, err := To(filter.All, l.filter, umbel.Goal{FPRate: p})
				if l.stats.FPRate > p {
					if !errors.Is(err, umbel.ErrGoal) {
						t.Fatalf("%v: error %v, want one that wraps ErrGoal", p, err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if got := f.Stats().FPRate; got > p {
					t.Fatalf("rate %v after a fold by %d, want at most %v", got, r, p)
				}
				i := slices.Index(l.factors, r)
				if i+1 < len(l.factors) {
					if g, _ := l.fold(l.factors[i+1]); g.Stats().FPRate <= p {
						t.Fatalf("folded by %d for %v, %d does too", r, p, l.factors[i+1])
					}
				}
			})
		})
	}
}

func TestToBytes(t *testing.T) {
	for _, v := range foldable() {
		l, err := newLadder(filter.All, sized(t, v, 100))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []uint64{1 << 40, l.stats.Bytes, l.stats.Bytes - 1, l.stats.Bytes / 5, 1000} {
			f, r, err := To(filter.All, l.filter, umbel.Goal{Bytes: want})
			if err != nil {
				t.Fatalf("%s to %d bytes: %v", v.Name, want, err)
			}
			if got := f.State().Bytes(); got > want || (r > 1 && got*2 <= want) {
				t.Errorf("%s to %d bytes: %d, by %d", v.Name, want, got, r)
			}
		}
		if _, _, err := To(filter.All, l.filter, umbel.Goal{Bytes: 1}); !errors.Is(err, umbel.ErrGoal) {
			t.Errorf("%s to 1 byte: %v", v.Name, err)
		}
	}
}

// The rate to expect is within a fifth of the one measured while it is a rate of
// use. At low rates it leaves out what double hashing adds, by which redisbloom's are
// twice as high at 1e-4.
func TestRate(t *testing.T) {
	for _, v := range foldable() {
		l, err := newLadder(filter.All, sized(t, v, 1000))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range l.factors {
			f, err := l.fold(r)
			if err != nil {
				t.Fatal(err)
			}
			got, want := l.rate(r), f.Stats().FPRate
			if want > 1e-3 && want < 0.5 && f.Stats().Cells > 20000 && math.Abs(got/want-1) > 0.2 {
				t.Errorf("%s by %d: to expect %.3g, measured %.3g", v.Name, r, got, want)
			}
		}
	}
}

// Steps has the factors and what a fold by each costs.
func TestSteps(t *testing.T) {
	for _, v := range foldable() {
		f := sized(t, v, 100)
		steps, err := Steps(filter.All, f)
		if err != nil {
			t.Fatal(err)
		}
		if first := steps[0]; first.Factor != 1 || first.FPRate != f.Stats().FPRate || first.Bytes != f.Stats().Bytes {
			t.Errorf("%s: the first step is %+v, want that of the filter itself", v.Name, first)
		}
		for i, s := range steps[1:] {
			if before := steps[i]; s.Factor <= before.Factor || s.Cells >= before.Cells || s.FPRate < f.Stats().FPRate || s.FPRate > 1 {
				t.Errorf("%s: step %+v follows %+v", v.Name, s, before)
			}
		}
	}
}

// A fold has one goal.
func TestGoals(t *testing.T) {
	f := sized(t, filter.All[0], 10)
	for _, goal := range []umbel.Goal{{}, {Keys: 10}, {FPRate: 0.5, Bytes: 100}} {
		if _, _, err := To(filter.All, f, goal); !errors.Is(err, umbel.ErrGoal) {
			t.Errorf("%+v: %v, want an error wrapping ErrGoal", goal, err)
		}
	}
}

func TestNoFolder(t *testing.T) {
	if _, err := newLadder(nil, rigid{}); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
}

type rigid struct{ umbel.Filter }

func (rigid) Hasher() umbel.Hasher { return umbel.Hasher{} }
func (rigid) State() umbel.State   { return umbel.State{Kind: "rigid"} }

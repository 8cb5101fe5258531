package filtertest

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
)

// staysOpenable: if a state opens, then after any additions and other changes the filter's own
// state opens again and contains the keys that were added. Each number of a state is set to
// extremes, alone and together with one other number. A number that the filter increments stays
// in the range that Open accepts.
func staysOpenable(t tb, v umbel.Kind) {
	other := filled(t, v, 8, digests(3, 100))[0].State()
	for _, n := range []int{0, 40} {
		for _, f := range filled(t, v, 8, digests(1, n)) {
			good := f.State()
			atExtremes(t, v, good, other, n > 0) // pairs only here, where the state has more parts
			atExtremes(t, v, withFullArrays(good), other, false)
		}
	}
}

// atExtremes tries a state with each number at each extreme and, if two is set, with each
// pair of numbers at fewer extremes.
func atExtremes(t tb, v umbel.Kind, good, other umbel.State, two bool) {
	t.Helper()
	for i, number := range numbersOf(&good) {
		for _, x := range extremesOf(*number, wholes, floats) {
			s := good.Clone()
			*numbersOf(&s)[i] = x
			keepsOpening(t, v, s, other)
			if !two {
				continue
			}
			for j, second := range numbersOf(&good)[:i] {
				for _, y := range extremesOf(*second, fewWholes, fewFloats) {
					*numbersOf(&s)[j] = y
					keepsOpening(t, v, s, other)
				}
				*numbersOf(&s)[j] = *second
			}
		}
	}
}

// withFullArrays returns a state with all cells at their largest value.
func withFullArrays(s umbel.State) umbel.State {
	s = s.Clone()
	for _, p := range s.AllArrays() {
		for i := range p.Len {
			p.Put(i, p.Limit())
		}
	}
	return s
}

// The extremes for one number, and those for the second number of a pair.
var (
	wholes = []uint64{0, 1, 2, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32, 1 << 48, 1 << 53, 1 << 56, 1<<62 - 1, 1 << 62,
		1<<63 - 1, 1 << 63, math.MaxUint64 - 1, math.MaxUint64}
	floats = []float64{0, math.SmallestNonzeroFloat64, 1e-300, 0.5, math.Nextafter(1, 0), 1, math.MaxFloat64, -1}

	fewWholes = []uint64{0, 1, 1 << 32, 1 << 62, 1 << 63, math.MaxUint64}
	fewFloats = []float64{math.SmallestNonzeroFloat64, math.Nextafter(1, 0)}
)

// extremesOf returns the extremes for a number of the type of n.
func extremesOf(n umbel.Number, wholes []uint64, floats []float64) []umbel.Number {
	var all []umbel.Number
	if n.IsFloat() {
		for _, x := range floats {
			all = append(all, umbel.Float(x))
		}
		return all
	}
	for _, x := range wholes {
		all = append(all, umbel.Uint(x))
	}
	return all
}

// numbersOf returns the numbers of a state and then those of its parts, depth first.
func numbersOf(s *umbel.State) []*umbel.Number {
	var all []*umbel.Number
	for i := range s.Params {
		all = append(all, &s.Params[i].Value)
	}
	for i := range s.Parts {
		all = append(all, numbersOf(&s.Parts[i])...)
	}
	return all
}

// keepsOpening fails if s opens and, after a change of the filter, the filter's own state
// doesn't open or lacks a key. One of the changes is a union with other.
func keepsOpening(t tb, v umbel.Kind, s, other umbel.State) {
	t.Helper()
	f, err := v.Open(s.Clone())
	if err != nil {
		return
	}
	if p := panicked(func() { wantReadable(t, v, f, nil, "a state with "+describe(s)) }); p != nil {
		t.Fatalf("a state with %s opens, and panics: %v", describe(s), p)
	}
	var after string
	fails := func(format string, args ...any) {
		t.Helper()
		t.Fatalf("a state with %s opens; after %s: %s", describe(s), after, fmt.Sprintf(format, args...))
	}
	again := func(what string, has ...umbel.Digest) {
		t.Helper()
		after = what
		g, err := v.Open(f.State().Clone())
		if err != nil {
			fails("the filter's own state does not open: %v", err)
		}
		for _, d := range has {
			if !g.Has(d) {
				fails("a key is lost")
			}
			if c, ok := g.(umbel.Counter); ok && count(t, c, d) == 0 {
				fails("Count is 0 for a key that was added")
			}
		}
	}
	ds := digests(7, 64)
	_, forgets := f.(umbel.Advancer)
	for i, d := range ds {
		switch i % 3 {
		case 0:
			f.Add(d)
		case 1:
			umbel.AddAll(f, nil, ds[i:i+1])
		case 2:
			if !tryAdd(t, f, d) {
				f.Add(d)
			}
		}
		if i&(i+1) != 0 {
			continue
		}
		has := ds[:i+1]
		if forgets {
			has = ds[i : i+1]
		}
		again(fmt.Sprintf("%d additions", i+1), has...)
	}
	if r, ok := f.(umbel.Remover); ok {
		r.Remove(ds[0])
		again("a removal")
	}
	if m, ok := f.(umbel.Merger); ok && m.Merge(other.Clone()) == nil {
		again("a merge")
	}
	if o, ok := f.(umbel.Folder); ok {
		if o.Unfold(2) == nil {
			again("an unfold")
		}
		if o.Fold(4) == nil {
			again("a fold")
		}
	}
	if o, ok := f.(umbel.Sealer); ok && o.Seal() == nil {
		again("Seal")
	}
	if a, ok := f.(umbel.Advancer); ok && a.Advance(math.MaxUint64) == nil {
		f.Add(ds[0])
		again("an advance to the largest time", ds[0])
	}
	if c, ok := f.(umbel.Clearer); ok {
		c.Clear()
		f.Add(ds[0])
		again("Clear and an addition", ds[0])
	}
}

// describe returns the numbers of a state as text.
func describe(s umbel.State) string {
	text := s.Kind
	for _, p := range s.Params {
		text += fmt.Sprintf(" %s=%v", p.Name, p.Value)
	}
	for _, p := range s.Parts {
		text += " (" + describe(p) + ")"
	}
	return text
}

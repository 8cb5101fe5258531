// package compare compares two filters, also of different sizes and made for different numbers of keys: it
// estimates how many keys they share, and intersects their cells.
//
// Filters of kind bloom are compared at their own sizes, in one pass over the cells of both; the comment of type
// pair in the source derives the estimate and its variance. Other kinds are folded to a common size, as Merge does.
package compare

import (
	"cmp"
	"errors"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/sparse"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/plan"
)

// Bits returns a filter as one array of bits: a copy of the bits of a counting filter or of the folded filter of a
// folding filter, or f. It does not change f, and is safe to call concurrently with queries of f. The error wraps errors.ErrUnsupported if the filter has no
// such array, as unions, lists of positions and kinds of several parts.
func Bits(f umbel.Filter) (umbel.Filter, error) {
	s := f.State()
	if len(s.Arrays) > 0 && s.Arrays[0].Len == 0 {
		return nil, sentinel.Errorf(errors.ErrUnsupported, "a zero Filter has no cells: make it with New")
	}
	switch f := f.(type) {
	case interface{ Bloom() (*bloom.Filter, error) }:
		return f.Bloom()
	case interface{ Folded() (*bloom.Filter, error) }:
		return f.Folded()
	}
	if len(s.Arrays) != 1 || len(s.Parts) != 0 || s.Arrays[0].Width > 1 {
		if s.Kind == sparse.Name {
			return nil, sentinel.Errorf(errors.ErrUnsupported, "kind sparse can't be compared: compare the filter of sparse.Filter.Bloom")
		}
		return nil, sentinel.Errorf(errors.ErrUnsupported, "kind %s can't be compared, because it isn't one array of bits", s.Kind)
	}
	return f, nil
}

// Overlap contains estimates of two sets of keys, with intervals of about 95% confidence.
type Overlap struct {
	A, B, Union, Both plan.Estimate
	OnlyA, OnlyB      plan.Estimate // the keys of one set that the other does not have
	Cells             uint64        // at which the filters were compared; 0 if each had its own size
}

// Of estimates how many keys a and b share; their kinds are in kinds, and bloom for kinds counting and folding, as
// in filter.All. Neither changes, and nothing may change them while Of runs. It takes memory for at most two copies
// of the smaller filter and one of the larger. The error wraps errors.ErrUnsupported as that of [Bits], or
// umbel.ErrMismatch if the filters are incompatible: if they have different hashers, kinds that do not merge, as
// windows by keys, or if they have different sizes and are not of kind bloom and don't merge, or one has more than 2^37
// cells.
func Of(kinds umbel.Kinds, a, b umbel.Filter) (Overlap, error) {
	a, b, err := bitsOfBoth(a, b)
	if err != nil {
		return Overlap{}, err
	}
	if ofTwoSizes(a, b) {
		if o, err := sweep(a, b); !errors.Is(err, umbel.ErrMismatch) {
			return o, err
		}
	}
	union, folded, err := align(kinds, a, b)
	if differ(a, b, err) {
		return sweep(a, b)
	}
	if err != nil {
		return Overlap{}, err
	}
	a, b = folded[0], folded[1]
	size := union.State().Arrays[0].Len
	o := Overlap{A: Keys(a), B: Keys(b), Union: Keys(union), Cells: size}
	if k, ok := plainK(a, b); ok {
		ones := func(f umbel.Filter) uint64 { return f.State().Arrays[0].Nonzero() }
		na, nb, nu := ones(a), ones(b), ones(union)
		o.Both = plan.Filter{M: size, K: k}.CommonKeys(na, nb, nu)
		o.OnlyA, o.OnlyB = beyond(size, k, nu, nb, o.A), beyond(size, k, nu, na, o.B)
	} else {
		s := union.Stats()
		e := estimates{o.A, o.B, o.Union, s.K / float64(s.Cells)}
		o.Both, o.OnlyA, o.OnlyB = e.both(), e.less(o.B, o.A), e.less(o.A, o.B)
	}
	o.Union.Value = min(o.Union.Value, o.A.Value+o.B.Value)
	o.Union.Low, o.Union.High = min(o.Union.Low, o.Union.Value), min(o.Union.High, o.A.High+o.B.High)
	return o, nil
}

// ofTwoSizes reports whether two filters of kind bloom have one hasher and different sizes, and are compared at these. A
// fold of the larger one would lose information: much if it is many times as large. The cells of a filter that was
// unfolded with keys are copies of others, so that only its fold can be compared.
func ofTwoSizes(a, b umbel.Filter) bool {
	s, t := a.State(), b.State()
	return s.Kind == bloom.Name && s.CheckMatch(t) == nil && s.Arrays[0].Len != t.Arrays[0].Len && plain(a) && plain(b)
}

// plain reports whether the number of keys of f follows from its set cells.
func plain(f umbel.Filter) bool {
	_, ok := plainK(f)
	return ok
}

func bitsOfBoth(a, b umbel.Filter) (umbel.Filter, umbel.Filter, error) {
	a, errA := Bits(a)
	b, errB := Bits(b)
	return a, b, cmp.Or(errA, errB)
}

// Intersection returns a filter with the cells of a that are also set in b; their kinds are in kinds, as in
// filter.All. The keys that are in both filters are in it. Its rate is higher than that of a filter made of the
// shared keys, because different keys may have set the same cells; for the same reason the number of keys in its
// Stats is too high, and [Of] estimates it. The result has the size of a if both are
// of kind bloom, and otherwise the size to which both are folded. Neither changes, and nothing may change them while
// Intersection runs. Memory and errors are those of [Of]; a must not have a larger k than b.
func Intersection(kinds umbel.Kinds, a, b umbel.Filter) (umbel.Filter, error) {
	a, b, err := bitsOfBoth(a, b)
	if err != nil {
		return nil, err
	}
	common, err := kinds.Open(a.State().Clone())
	if err != nil {
		return nil, err
	}
	atOwnSizes := func() (umbel.Filter, error) {
		if err := keepCommon(common, b); err != nil {
			return nil, err
		}
		return kinds.Open(common.State()) // recomputes what the filter derives from its cells
	}
	if ofTwoSizes(a, b) {
		if f, err := atOwnSizes(); !errors.Is(err, umbel.ErrMismatch) {
			return f, err
		}
	}
	_, folded, err := align(kinds, common, b)
	if differ(a, b, err) {
		return atOwnSizes()
	}
	if err != nil {
		return nil, err
	}
	words, others := folded[0].State().Arrays[0].Words, folded[1].State().Arrays[0].Words
	for i := range words {
		words[i] &= others[i]
	}
	return kinds.Open(folded[0].State())
}

// differ reports whether err is due to the sizes or the k of two filters of kind bloom.
func differ(a, b umbel.Filter, err error) bool {
	return errors.Is(err, umbel.ErrMismatch) && a.State().Kind == bloom.Name && a.State().CheckMatch(b.State()) == nil
}

// Keys returns the estimated number of keys of a filter, from its Stats. It is too high for an [Intersection].
func Keys(f umbel.Filter) plan.Estimate {
	s := f.Stats()
	return plan.Estimate{Value: s.Keys, Low: s.Low, High: s.High}
}

// align returns the union of a and b, and both at its size. A filter of that size is returned itself.
func align(kinds umbel.Kinds, a, b umbel.Filter) (union umbel.Filter, folded [2]umbel.Filter, err error) {
	small, large := a, b
	if b.State().Bytes() < a.State().Bytes() {
		small, large = b, a
	}
	union, err = kinds.Open(small.State().Clone())
	if err != nil {
		return nil, folded, err
	}
	m, ok := union.(umbel.Merger)
	if !ok {
		return nil, folded, sentinel.Errorf(errors.ErrUnsupported, "kind %s doesn't merge", small.State().Kind)
	}
	if err := m.Merge(large.State()); err != nil {
		return nil, folded, err
	}
	size := union.State().Arrays[0].Len
	for i, f := range []umbel.Filter{a, b} {
		if folded[i], err = foldedTo(kinds, f, size); err != nil {
			return nil, folded, err
		}
	}
	return union, folded, nil
}

// foldedTo returns f at the size that a union with it has: itself or a copy.
func foldedTo(kinds umbel.Kinds, f umbel.Filter, size uint64) (umbel.Filter, error) {
	m := f.State().Arrays[0].Len
	if m == size {
		return f, nil
	}
	f, err := kinds.Open(f.State().Clone())
	if err != nil {
		return nil, err
	}
	folder, ok := f.(umbel.Folder)
	if !ok {
		return nil, sentinel.Errorf(errors.ErrUnsupported,
			"a filter of kind %s with %d cells must be folded to %d cells, and doesn't fold", f.State().Kind, m, size)
	}
	return f, folder.Fold(m / size)
}

// plainK returns k if the number of keys follows from the formula of the standard filter, for
// which the variance of an intersection is known.
func plainK(fs ...umbel.Filter) (k int, plain bool) {
	for _, f := range fs {
		s := f.Stats()
		k = int(s.K)
		if float64(k) != s.K || k < 1 {
			return 0, false
		}
		want := plan.Filter{M: s.Cells, K: k}.Keys(f.State().Arrays[0].Nonzero()).Value
		if s.Keys != want && !(math.Abs(s.Keys-want) <= 1e-9*want) {
			return 0, false
		}
	}
	return k, true
}

// estimates are those of two sets and of their union, from which those of their common keys and of the keys of one
// set follow. Like the errors of plain filters (plan.Filter.CommonKeys), those of two filters have the covariance that the error of
// a filter of their common keys has as its variance.
type estimates struct {
	a, b, union plan.Estimate
	load        float64 // cells set per key and cell: k/m
}

// variance returns the variance of an estimate, from its interval.
func variance(e plan.Estimate) float64 {
	d := (e.High - e.Value) / sigmas
	return d * d
}

// both returns the intersection of two sets by inclusion and exclusion. The variance for the common keys is that of the
// smaller set, changed as that of a plain filter changes.
func (e estimates) both() plan.Estimate {
	most := min(e.a.High, e.b.High)
	value := e.a.Value + e.b.Value - e.union.Value
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return plan.Estimate{Value: math.NaN(), High: most}
	}
	g := func(keys float64) float64 { return math.Expm1(e.load*keys) - e.load*keys }
	small := e.a
	if e.b.Value < small.Value {
		small = e.b
	}
	ofCommon := 0.0
	if common := min(max(value, 0), small.Value); common > 0 {
		ofCommon = variance(small) * g(common) / g(small.Value)
	}
	reach := sigmas * math.Sqrt(max(0, variance(e.union)+2*ofCommon-variance(e.a)-variance(e.b)))
	low, high := value-reach, value+reach
	value = min(max(value, 0), e.a.Value, e.b.Value)
	return plan.Estimate{Value: value, Low: min(value, max(low, 0)), High: max(value, min(high, most))}
}

// less estimates the number of keys of the union that are not in one of its two sets; other is the estimate of the
// other set.
func (e estimates) less(set, other plan.Estimate) plan.Estimate {
	value := e.union.Value - set.Value
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return plan.Estimate{Value: math.NaN(), High: other.High}
	}
	reach := sigmas * math.Sqrt(max(0, variance(e.union)-variance(set)))
	low, high := value-reach, value+reach
	value = min(max(value, 0), other.Value)
	return plan.Estimate{Value: value, Low: min(value, max(low, 0)), High: max(value, min(high, other.High))}
}

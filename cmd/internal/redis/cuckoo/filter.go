// Package cuckoo is the kind of filters that answers CF.* as the cuckoo filters of RedisBloom do, with counters. Its dumps are its own.
package cuckoo

import (
	"fmt"
	"io"
	"math"
	"math/bits"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/dynamic"
	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Name is the name of the kind of CF.* filters.
const Name = "redisbloom-cf"

// Kind is the kind of CF.* filters: a list of counting filters, as in dynamic.Counting, and
// the data that CF.INFO reports about the cuckoo filters RedisBloom would have made. A state has
// the parameters of names, then those of dynamic.Counting, no arrays, and the counting
// filters as its parts.
var Kind = umbel.Kind{
	Name: Name,
	Doc:  "counting filters that answer CF.* as RedisBloom's cuckoo filters do",
	Plan: func(g umbel.Goal, ps umbel.Params) (umbel.Forecast, error) {
		if err := ps.Check(Name, nil); err != nil {
			return umbel.Forecast{}, err
		}
		return dynamic.Kind.Plan(g, ofCounters)
	},
	Shape: func(g umbel.Goal, ps umbel.Params) (umbel.Shape, uint64, error) {
		if err := ps.Check(Name, nil); err != nil {
			return nil, 0, err
		}
		return dynamic.Kind.Shape(g, ofCounters)
	},
	New: fromGoal,
	Open: func(s umbel.State) (umbel.Filter, error) {
		f, err := open(s)
		if err != nil {
			return nil, err
		}
		return f, nil
	},
}

// counterBits is the width of the counters; ofCounters passes it to dynamic.Kind.
const counterBits = 4

var ofCounters = umbel.Params{{Name: "width", Value: umbel.Uint(counterBits)}}

// fromGoal makes a filter from a goal, with as many slots as planned keys.
func fromGoal(g umbel.Goal, ps umbel.Params) (umbel.Filter, error) {
	if err := ps.Check(Name, nil); err != nil {
		return nil, err
	}
	fc, err := dynamic.Kind.Plan(g, ofCounters)
	if err != nil {
		return nil, err
	}
	row, err := dynamic.Kind.New(g, ofCounters)
	if err != nil {
		return nil, err
	}
	o := Default
	o.Capacity = min(max(fc.Keys, 2*o.Bucket), redisbloom.MaxCapacity)
	return o.with(row.(*dynamic.Counting)), nil
}

// Options are the arguments of CF.RESERVE, within their ranges.
type Options struct {
	Capacity  uint64
	Bucket    uint64 // slots per bucket
	Tries     uint64 // reported, otherwise unused
	Expansion uint64 // growth factor of the filters; 0: one filter only
	Filters   uint64 // maximum number
}

// Default has the options of RedisBloom.
var Default = Options{Capacity: 1024, Bucket: 2, Tries: 20, Expansion: 1, Filters: 32}

// fingerprints is the number of values of a cuckoo filter's fingerprint: eight bits, not all
// zero.
const fingerprints = 255

// Shape plans the counters. Each part is for as many items as the first cuckoo filter has slots,
// at its rate; a query reads two buckets there.
func (o Options) Shape(h umbel.Hasher) (dynamic.Shape, error) {
	rate := min(2*float64(o.Bucket)/fingerprints, redisbloom.MaxErrorRate)
	shape, err := dynamic.Plan(umbel.Goal{Keys: o.buckets() * o.Bucket, FPRate: rate, Hasher: h})
	shape.Width = counterBits
	return shape, err
}

// buckets returns the number of buckets of the first filter, a power of two.
func (o Options) buckets() uint64 {
	n := max(o.Capacity/o.Bucket, 1)
	return 1 << bits.Len64(n-1)
}

// Make returns an empty filter. It returns an error wrapping umbel.ErrGoal if the options have no shape.
func (o Options) Make(h umbel.Hasher) (*Filter, error) {
	shape, err := o.Shape(h)
	if err != nil {
		return nil, err
	}
	row, err := dynamic.NewCountingShape(shape)
	if err != nil {
		return nil, err
	}
	return o.with(row), nil
}

// with returns an empty filter with these counters.
func (o Options) with(row *dynamic.Counting) *Filter {
	return &Filter{row, Numbers{
		Buckets: o.buckets(), Bucket: o.Bucket, Tries: o.Tries, Expansion: o.Expansion, Most: o.Filters, Filters: 1,
	}}
}

// Filter is a filter of kind Name. An item without a slot adds an emulated filter; the
// counters decide independently when they add a part.
type Filter struct {
	row *dynamic.Counting
	Numbers
}

// Numbers are what CF.INFO reports.
type Numbers struct {
	Buckets, Bucket, Tries, Expansion uint64 // Buckets: of the first filter; Bucket: its slots
	Most, Filters                     uint64 // emulated filters at most, and now
	Items, Deleted                    uint64
}

var (
	_ umbel.GrowthForecaster = (*Filter)(nil)
	_ umbel.Grower           = (*Filter)(nil)
	_ umbel.Remover          = (*Filter)(nil)
	_ umbel.Counter          = (*Filter)(nil)
	_ umbel.Clearer          = (*Filter)(nil)
	_ umbel.BatchQuerier     = (*Filter)(nil)
)

// errFull and errExpansions are why no item is taken.
var (
	errFull       = sentinel.Errorf(umbel.ErrLimit, "the filter is full, and doesn't grow")
	errExpansions = sentinel.Errorf(umbel.ErrLimit, "the filter is full, and has grown as often as it may")
)

// room returns an error unless there is a slot for another item or another filter is allowed.
func (f *Filter) room() error {
	switch {
	case f.Items < f.Slots():
		return nil
	case f.Expansion == 0:
		return errFull
	case f.Filters >= f.Most:
		return errExpansions
	}
	return nil
}

// recordInsert counts an item.
func (f *Filter) recordInsert() {
	if f.Items >= f.Slots() && f.room() == nil {
		f.Filters++
	}
	if f.Items < math.MaxUint64 { // a wrap to 0 would make Count too low
		f.Items++
	}
}

// Add adds d, ignoring all limits. Every addition counts.
func (f *Filter) Add(d umbel.Digest) bool {
	f.row.Add(d)
	f.recordInsert()
	return true
}

// TryAdd is Add within the limits: see umbel.Grower.
func (f *Filter) TryAdd(d umbel.Digest) (bool, error) {
	if err := f.room(); err != nil {
		return false, err
	}
	if _, err := f.row.TryAdd(d); err != nil {
		return false, err
	}
	f.recordInsert()
	return true, nil
}

// NextGrowth returns the memory that the next item needs: see umbel.GrowthForecaster.
func (f *Filter) NextGrowth() (uint64, error) {
	if err := f.room(); err != nil {
		return 0, err
	}
	return f.row.NextGrowth()
}

// Slots returns the number of slots of the emulated filters, at most 2^48.
func (f Numbers) Slots() uint64 {
	const most = 1 << 48
	sum, size := uint64(0), f.Buckets*f.Bucket
	for range f.Filters {
		sum += size
		if size *= f.Expansion; size > most || sum > most {
			return most
		}
	}
	return sum
}

// Remove removes one addition of d: see dynamic.Counting. It returns false and changes nothing for an item that is absent
// or that cannot be removed, so that calls until it returns false end.
func (f *Filter) Remove(d umbel.Digest) bool {
	if !f.row.Remove(d) {
		return false
	}
	f.Items -= min(f.Items, 1)
	if f.Deleted < math.MaxUint64 {
		f.Deleted++
	}
	return true
}

// Count returns an upper bound of how often d is present, 0 if and only if Has is false. If all counters of d are
// saturated, it is the number of all items.
func (f *Filter) Count(d umbel.Digest) (n uint64, known bool) {
	if !f.row.Has(d) {
		return 0, true
	}
	n, _ = f.row.Count(d)
	n = max(1, min(n, f.Items)) // counters of other items may let Has be true and n be 0
	return n, n != math.MaxUint64
}

// Has reports whether d may be present.
func (f *Filter) Has(d umbel.Digest) bool { return f.row.Has(d) }

// HasAll is Has for many digests: see umbel.BatchQuerier.
func (f *Filter) HasAll(dst []bool, ds []umbel.Digest) { f.row.HasAll(dst, ds) }

// Stats measures the counters.
func (f *Filter) Stats() umbel.Stats { return f.row.Stats() }

// SetMaxBytes sets the memory limit of the counters.
func (f *Filter) SetMaxBytes(n uint64) { f.row.SetMaxBytes(n) }

// Clear removes all items.
func (f *Filter) Clear() {
	f.row.Clear()
	f.Items, f.Deleted, f.Filters = 0, 0, 1
}

// names are the parameters of a state, in order; fields returns their values.
var names = []string{"buckets", "bucket-size", "max-iterations", "expansion", "max-filters", "filters", "items", "deleted"}

func (f *Filter) fields() []*uint64 {
	return []*uint64{&f.Buckets, &f.Bucket, &f.Tries, &f.Expansion, &f.Most, &f.Filters, &f.Items, &f.Deleted}
}

// Hasher returns the hasher of the filter's keys.
func (f *Filter) Hasher() umbel.Hasher { return f.row.Hasher() }

// String Describes the filter without its seed.
func (f *Filter) String() string {
	return fmt.Sprintf("%s{items: %d, filters: %d}", Name, f.Items, f.Filters)
}

// Format writes String for every verb, also for a copy, so that a seed is never printed.
func (f Filter) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, f.String()) }

// State returns the complete contents of the filter.
func (f *Filter) State() umbel.State {
	s := f.row.State()
	s.Kind = Name
	var own umbel.Params
	for i, n := range f.fields() {
		own = append(own, umbel.Param{Name: names[i], Value: umbel.Uint(*n)})
	}
	s.Params = slices.Concat(own, s.Params)
	return s
}

func open(s umbel.State) (*Filter, error) {
	if s.Kind != Name {
		return nil, sentinel.Errorf(umbel.ErrKind, "a state of kind %.40q", s.Kind)
	}
	if !s.Hasher.HashesKeys() {
		return nil, sentinel.Errorf(umbel.ErrCorrupt, "a %s filter with hash %v, want one that hashes keys", Name, s.Hasher.Alg)
	}
	f := new(Filter)
	own := s.Params[:min(len(names), len(s.Params))]
	if err := own.Uints(names, f.fields()...); err != nil {
		return nil, err
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	s.Kind, s.Params = dynamic.Name, s.Params[len(own):]
	row, err := dynamic.OpenCounting(s)
	if err != nil {
		return nil, err
	}
	f.row = row
	return f, nil
}

// check returns an error unless the numbers are valid.
func (f *Filter) check() error {
	for _, c := range []struct {
		what         string
		n, low, high uint64
	}{
		{"buckets", f.Buckets, 1, redisbloom.MaxCapacity},
		{"slots of a bucket", f.Bucket, 1, 255},
		{"iterations", f.Tries, 1, 65535},
		{"expansion", f.Expansion, 0, 32768},
		{"filters at most", f.Most, 1, 65536},
		{"filters", f.Filters, 1, f.Most},
	} {
		if c.n < c.low || c.n > c.high {
			return sentinel.Errorf(umbel.ErrCorrupt, "%s: %d, want %d to %d", c.what, c.n, c.low, c.high)
		}
	}
	return nil
}

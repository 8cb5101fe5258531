package redisbloom

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

// CuckooName is the name of the kind of CF.* filters.
const CuckooName = "redisbloom-cf"

// CuckooKind is the kind of CF.* filters: a list of counting filters, as in dynamic.Counting, and
// the data that CF.INFO reports about the cuckoo filters RedisBloom would have made. A state has
// the parameters of cuckooNames, then those of dynamic.Counting, no arrays, and the counting
// filters as its parts.
var CuckooKind = umbel.Kind{
	Name: CuckooName,
	Doc:  "counting filters that answer CF.* as RedisBloom's cuckoo filters do",
	Plan: func(g umbel.Goal, ps umbel.Params) (umbel.Forecast, error) {
		if err := ps.Check(CuckooName, nil); err != nil {
			return umbel.Forecast{}, err
		}
		return dynamic.Kind.Plan(g, ofCounters)
	},
	Shape: func(g umbel.Goal, ps umbel.Params) (umbel.Shape, uint64, error) {
		if err := ps.Check(CuckooName, nil); err != nil {
			return nil, 0, err
		}
		return dynamic.Kind.Shape(g, ofCounters)
	},
	New: newCuckoo,
	Open: func(s umbel.State) (umbel.Filter, error) {
		f, err := openCuckoo(s)
		if err != nil {
			return nil, err
		}
		return f, nil
	},
}

// counterBits is the width of the counters; ofCounters passes it to dynamic.Kind.
const counterBits = 4

var ofCounters = umbel.Params{{Name: "width", Value: umbel.Uint(counterBits)}}

// newCuckoo makes a filter from a goal, with as many slots as planned keys.
func newCuckoo(g umbel.Goal, ps umbel.Params) (umbel.Filter, error) {
	if err := ps.Check(CuckooName, nil); err != nil {
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
	o := defaultCuckoo
	o.capacity = min(max(fc.Keys, 2*o.bucket), redisbloom.MaxCapacity)
	return o.with(row.(*dynamic.Counting)), nil
}

// cuckooOptions are the arguments of CF.RESERVE, within their ranges.
type cuckooOptions struct {
	capacity  uint64
	bucket    uint64 // slots per bucket
	tries     uint64 // reported, otherwise unused
	expansion uint64 // growth factor of the filters; 0: one filter only
	filters   uint64 // maximum number
}

var defaultCuckoo = cuckooOptions{capacity: 1024, bucket: 2, tries: 20, expansion: 1, filters: 32}

// fingerprints is the number of values of a cuckoo filter's fingerprint: eight bits, not all
// zero.
const fingerprints = 255

// shape plans the counters. Each part is for as many items as the first cuckoo filter has slots,
// at its rate; a query reads two buckets there.
func (o cuckooOptions) shape(h umbel.Hasher) (dynamic.Shape, error) {
	rate := min(2*float64(o.bucket)/fingerprints, redisbloom.MaxErrorRate)
	shape, err := dynamic.Plan(umbel.Goal{Keys: o.buckets() * o.bucket, FPRate: rate, Hasher: h})
	shape.Width = counterBits
	return shape, err
}

// buckets returns the number of buckets of the first filter, a power of two.
func (o cuckooOptions) buckets() uint64 {
	n := max(o.capacity/o.bucket, 1)
	return 1 << bits.Len64(n-1)
}

func (o cuckooOptions) make(h umbel.Hasher) (*cuckoo, error) {
	shape, err := o.shape(h)
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
func (o cuckooOptions) with(row *dynamic.Counting) *cuckoo {
	return &cuckoo{row: row, buckets: o.buckets(), bucket: o.bucket, tries: o.tries, expansion: o.expansion, most: o.filters, filters: 1}
}

// cuckoo is a filter of kind CuckooName. An item without a slot adds an emulated filter; the
// counters decide independently when they add a part.
type cuckoo struct {
	row *dynamic.Counting

	buckets, bucket, tries, expansion, most uint64 // buckets: of the first filter
	filters                                 uint64
	items, deleted                          uint64
}

var (
	_ umbel.GrowthForecaster = (*cuckoo)(nil)
	_ umbel.Grower           = (*cuckoo)(nil)
	_ umbel.Remover          = (*cuckoo)(nil)
	_ umbel.Counter          = (*cuckoo)(nil)
	_ umbel.Clearer          = (*cuckoo)(nil)
	_ umbel.BatchQuerier     = (*cuckoo)(nil)
)

// errFull and errExpansions are why no item is taken.
var (
	errFull       = sentinel.Errorf(umbel.ErrLimit, "the filter is full, and doesn't grow")
	errExpansions = sentinel.Errorf(umbel.ErrLimit, "the filter is full, and has grown as often as it may")
)

// room returns an error unless there is a slot for another item or another filter is allowed.
func (f *cuckoo) room() error {
	switch {
	case f.items < f.slots(f.filters):
		return nil
	case f.expansion == 0:
		return errFull
	case f.filters >= f.most:
		return errExpansions
	}
	return nil
}

// recordInsert counts an item.
func (f *cuckoo) recordInsert() {
	if f.items >= f.slots(f.filters) && f.room() == nil {
		f.filters++
	}
	if f.items < math.MaxUint64 { // a wrap to 0 would make Count too low
		f.items++
	}
}

// Add adds d, ignoring all limits. Every addition counts.
func (f *cuckoo) Add(d umbel.Digest) bool {
	f.row.Add(d)
	f.recordInsert()
	return true
}

// TryAdd is Add within the limits: see umbel.Grower.
func (f *cuckoo) TryAdd(d umbel.Digest) (bool, error) {
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
func (f *cuckoo) NextGrowth() (uint64, error) {
	if err := f.room(); err != nil {
		return 0, err
	}
	return f.row.NextGrowth()
}

// slots returns the number of slots of emulated filters, at most 2^48.
func (f *cuckoo) slots(filters uint64) uint64 {
	const most = 1 << 48
	sum, size := uint64(0), f.buckets*f.bucket
	for range filters {
		sum += size
		if size *= f.expansion; size > most || sum > most {
			return most
		}
	}
	return sum
}

// Remove removes one addition of d: see dynamic.Counting. It returns false and changes nothing for an item that is absent
// or that cannot be removed, so that calls until it returns false end.
func (f *cuckoo) Remove(d umbel.Digest) bool {
	if !f.row.Remove(d) {
		return false
	}
	f.items -= min(f.items, 1)
	if f.deleted < math.MaxUint64 {
		f.deleted++
	}
	return true
}

// Count returns an upper bound of how often d is present, 0 if and only if Has is false. If all counters of d are
// saturated, it is the number of all items.
func (f *cuckoo) Count(d umbel.Digest) (n uint64, known bool) {
	if !f.row.Has(d) {
		return 0, true
	}
	n, _ = f.row.Count(d)
	n = max(1, min(n, f.items)) // counters of other items may let Has be true and n be 0
	return n, n != math.MaxUint64
}

// Has reports whether d may be present.
func (f *cuckoo) Has(d umbel.Digest) bool { return f.row.Has(d) }

// HasAll is Has for many digests: see umbel.BatchQuerier.
func (f *cuckoo) HasAll(dst []bool, ds []umbel.Digest) { f.row.HasAll(dst, ds) }

// Stats measures the counters.
func (f *cuckoo) Stats() umbel.Stats { return f.row.Stats() }

// SetMaxBytes sets the memory limit of the counters.
func (f *cuckoo) SetMaxBytes(n uint64) { f.row.SetMaxBytes(n) }

// Clear removes all items.
func (f *cuckoo) Clear() {
	f.row.Clear()
	f.items, f.deleted, f.filters = 0, 0, 1
}

// cuckooNames are the parameters of a state, in order; fields returns their values.
var cuckooNames = []string{"buckets", "bucket-size", "max-iterations", "expansion", "max-filters", "filters", "items", "deleted"}

func (f *cuckoo) fields() []*uint64 {
	return []*uint64{&f.buckets, &f.bucket, &f.tries, &f.expansion, &f.most, &f.filters, &f.items, &f.deleted}
}

// Hasher returns the hasher of the filter's keys.
func (f *cuckoo) Hasher() umbel.Hasher { return f.row.Hasher() }

// String describes the filter without its seed.
func (f *cuckoo) String() string {
	return fmt.Sprintf("%s{items: %d, filters: %d}", CuckooName, f.items, f.filters)
}

// Format writes String for every verb, also for a copy, so that a seed is never printed.
func (f cuckoo) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, f.String()) }

// State returns the complete contents of the filter.
func (f *cuckoo) State() umbel.State {
	s := f.row.State()
	s.Kind = CuckooName
	var own umbel.Params
	for i, n := range f.fields() {
		own = append(own, umbel.Param{Name: cuckooNames[i], Value: umbel.Uint(*n)})
	}
	s.Params = slices.Concat(own, s.Params)
	return s
}

func openCuckoo(s umbel.State) (*cuckoo, error) {
	if s.Kind != CuckooName {
		return nil, sentinel.Errorf(umbel.ErrKind, "a state of kind %.40q", s.Kind)
	}
	if !s.Hasher.HashesKeys() {
		return nil, sentinel.Errorf(umbel.ErrCorrupt, "a %s filter with hash %v, want one that hashes keys", CuckooName, s.Hasher.Alg)
	}
	f := new(cuckoo)
	own := s.Params[:min(len(cuckooNames), len(s.Params))]
	if err := own.Uints(cuckooNames, f.fields()...); err != nil {
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
func (f *cuckoo) check() error {
	for _, c := range []struct {
		what         string
		n, low, high uint64
	}{
		{"buckets", f.buckets, 1, redisbloom.MaxCapacity},
		{"slots of a bucket", f.bucket, 1, 255},
		{"iterations", f.tries, 1, 65535},
		{"expansion", f.expansion, 0, 32768},
		{"filters at most", f.most, 1, 65536},
		{"filters", f.filters, 1, f.most},
	} {
		if c.n < c.low || c.n > c.high {
			return sentinel.Errorf(umbel.ErrCorrupt, "%s: %d, want %d to %d", c.what, c.n, c.low, c.high)
		}
	}
	return nil
}

package redisbloom

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/filter/redisbloom"
)

// CuckooKind is the kind of the filters of CF.*.
const CuckooKind = "redisbloom-cf"

// CuckooVariant is the kind of the filters of CF.*: a counting filter, beside which stands
// what CF.INFO tells of the cuckoo filter that RedisBloom would have made. A state has the
// parameters of cuckooNames, no planes, and the counting filter as its part.
var CuckooVariant = umbel.Variant{
	Kind: CuckooKind,
	Doc:  "counting filter that answers CF.* as RedisBloom's cuckoo filter does",
	Plan: counting.Variant.Plan,
	New: func(g umbel.Goal, ps umbel.Params) (umbel.Filter, error) {
		if err := ps.Check(CuckooKind, nil); err != nil {
			return nil, err
		}
		shape, err := counting.Plan(g)
		if err != nil {
			return nil, err
		}
		fc, err := counting.Variant.Plan(g, nil)
		if err != nil {
			return nil, err
		}
		o := defaultCuckoo
		o.capacity = min(max(fc.Keys, 2*o.bucket), redisbloom.MaxCapacity)
		return o.make(shape)
	},
	Open: openCuckoo,
}

// cuckooOptions are the arguments of CF.RESERVE, in their ranges.
type cuckooOptions struct {
	capacity  uint64
	bucket    uint64 // slots of a bucket
	tries     uint64 // shown, and else without a meaning here
	expansion uint64 // by how much each filter is larger than the one before; 0: there is no other
	filters   uint64 // at most
}

var defaultCuckoo = cuckooOptions{capacity: 1024, bucket: 2, tries: 20, expansion: 1, filters: 32}

// fingerprints is the number of fingerprints of eight bits, none of which is zero.
const fingerprints = 255

// shape plans the counters: for as many items as there are slots, at the rate of a cuckoo
// filter, whose items look at two buckets.
func (o cuckooOptions) shape(h umbel.Hasher) (counting.Shape, error) {
	rate := min(2*float64(o.bucket)/fingerprints, 0.25)
	return counting.Plan(umbel.Goal{Keys: o.buckets() * o.bucket, FPRate: rate, Hasher: h})
}

// buckets returns the number of buckets of the first filter, a power of two.
func (o cuckooOptions) buckets() uint64 {
	n := max(o.capacity/max(o.bucket, 1), 1)
	return 1 << bits.Len64(n-1)
}

func (o cuckooOptions) make(s counting.Shape) (*cuckoo, error) {
	counters, err := counting.New(s)
	if err != nil {
		return nil, err
	}
	return &cuckoo{
		counters: counters, buckets: o.buckets(), bucket: o.bucket, tries: o.tries,
		expansion: o.expansion, most: o.filters, filters: 1, enlarged: 1, maxBytes: math.MaxUint64,
	}, nil
}

// cuckoo is a filter of CuckooKind. When it has as many items as it emulates slots it
// emulates another filter, and doubles its counters until there are those for as many items;
// keys that are there keep their rate.
type cuckoo struct {
	counters *counting.Filter
	maxBytes uint64

	buckets, bucket, tries, expansion, most uint64 // buckets: of the first filter
	filters                                 uint64
	enlarged                                uint64 // how many times as many counters there are as at first
	items, deleted                          uint64
}

var (
	_ umbel.Grower     = (*cuckoo)(nil)
	_ umbel.Remover    = (*cuckoo)(nil)
	_ umbel.Counter    = (*cuckoo)(nil)
	_ umbel.Clearer    = (*cuckoo)(nil)
	_ umbel.BatchHaser = (*cuckoo)(nil)
)

// errFull and errExpansions are what CF.ADD answers where no item is taken.
var (
	errFull       = fmt.Errorf("Filter is full: %w", umbel.ErrLimit)
	errExpansions = fmt.Errorf("Maximum expansions reached: %w", umbel.ErrLimit)
)

// Add adds d, beyond all limits if need be. Every addition counts.
func (f *cuckoo) Add(d umbel.Digest) bool {
	_ = f.makeRoom()
	f.add(d)
	return true
}

// TryAdd is Add within the limits: see umbel.Grower.
func (f *cuckoo) TryAdd(d umbel.Digest) (bool, error) {
	if err := f.makeRoom(); err != nil {
		return false, err
	}
	f.add(d)
	return true, nil
}

func (f *cuckoo) add(d umbel.Digest) {
	f.counters.Add(d)
	f.items++
}

// makeRoom emulates another filter if all slots are taken.
func (f *cuckoo) makeRoom() error {
	slots := f.slots(f.filters)
	switch {
	case f.items < slots:
		return nil
	case f.expansion == 0:
		return errFull
	case f.filters >= f.most:
		return errExpansions
	}
	times := uint64(1)
	for f.slots(1)*f.enlarged*times < f.slots(f.filters+1) {
		times *= 2
	}
	shape := f.counters.Shape()
	if over, bytes := bits.Mul64(shape.M/8*uint64(shape.Width), times); over != 0 || bytes > f.maxBytes {
		return fmt.Errorf("redisbloom: the counters would take %d bytes, at most %d are allowed: %w", bytes, f.maxBytes, umbel.ErrLimit)
	}
	if err := f.counters.Unfold(times); err != nil {
		return fmt.Errorf("redisbloom: %w: %w", err, umbel.ErrLimit)
	}
	f.enlarged *= times
	f.filters++
	return nil
}

// slots returns how many slots so many emulated filters have.
func (f *cuckoo) slots(filters uint64) uint64 {
	sum, size := uint64(0), f.buckets*f.bucket
	for range filters {
		sum += size
		if size *= f.expansion; size > 1<<48 || sum > 1<<48 {
			return 1 << 48
		}
	}
	return sum
}

// Has reports whether d may have been added, and not removed since.
func (f *cuckoo) Has(d umbel.Digest) bool { return f.counters.Has(d) }

// HasAll is Has for many: see umbel.BatchHaser.
func (f *cuckoo) HasAll(dst []bool, ds []umbel.Digest) { f.counters.HasAll(dst, ds) }

// Remove takes back one addition of d: see counting.Filter.
func (f *cuckoo) Remove(d umbel.Digest) bool {
	if !f.counters.Remove(d) {
		return false
	}
	f.items -= min(f.items, 1)
	f.deleted++
	return true
}

// Count returns how often d was added and not removed: never too few. Where the counters
// can't tell it is the number of all items.
func (f *cuckoo) Count(d umbel.Digest) uint64 { return min(f.counters.Count(d), f.items) }

// Clear forgets all items.
func (f *cuckoo) Clear() {
	f.counters.Clear()
	f.items, f.deleted = 0, 0
}

// SetMaxBytes sets the memory of the counters beyond which the filter doesn't grow.
func (f *cuckoo) SetMaxBytes(n uint64) { f.maxBytes = n }

// Stats measures the counters.
func (f *cuckoo) Stats() umbel.Stats { return f.counters.Stats() }

// cuckooNames are the parameters of a state, in order; fields are their numbers.
var cuckooNames = []string{"buckets", "bucket-size", "max-iterations", "expansion", "max-filters", "filters", "enlarged", "items", "deleted"}

func (f *cuckoo) fields() []*uint64 {
	return []*uint64{&f.buckets, &f.bucket, &f.tries, &f.expansion, &f.most, &f.filters, &f.enlarged, &f.items, &f.deleted}
}

// State returns all there is of the filter.
func (f *cuckoo) State() umbel.State {
	part := f.counters.State()
	s := umbel.State{Kind: CuckooKind, Hasher: part.Hasher, Parts: []umbel.State{part}}
	for i, n := range f.fields() {
		s.Params = append(s.Params, umbel.Param{Name: cuckooNames[i], Value: umbel.Uint(*n)})
	}
	return s
}

func openCuckoo(s umbel.State) (umbel.Filter, error) {
	if s.Kind != CuckooKind {
		return nil, fmt.Errorf("redisbloom: a state of kind %.40q: %w", s.Kind, umbel.ErrKind)
	}
	f := &cuckoo{maxBytes: math.MaxUint64}
	if err := s.Params.Uints(cuckooNames, f.fields()...); err != nil {
		return nil, err
	}
	if len(s.Planes) != 0 || len(s.Parts) != 1 || s.Parts[0].Hasher != s.Hasher {
		return nil, fmt.Errorf("redisbloom: %d planes and %d parts, want none and one of the same hasher: %w", len(s.Planes), len(s.Parts), umbel.ErrCorrupt)
	}
	counters, err := counting.Open(s.Parts[0])
	if err != nil {
		return nil, fmt.Errorf("redisbloom: %w: %w", err, umbel.ErrCorrupt)
	}
	f.counters = counters
	if err := f.check(); err != nil {
		return nil, err
	}
	return f, nil
}

// check returns an error unless there is such a filter.
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
		{"enlargement", f.enlarged, 1, 1 << 56},
	} {
		if c.n < c.low || c.n > c.high {
			return fmt.Errorf("redisbloom: %s: %d, want %d to %d: %w", c.what, c.n, c.low, c.high, umbel.ErrCorrupt)
		}
	}
	return nil
}

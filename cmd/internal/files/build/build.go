// Package build makes filters from streams of keys.
package build

import (
	"fmt"
	"io"
	"math"
	"os"
	"sync"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine/memory"
	"github.com/umbel-filters/umbel/cmd/internal/files/container"
	"github.com/umbel-filters/umbel/cmd/internal/files/keys"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/files/spec"
)

// Order describes a filter to make.
type Order struct {
	Kinds  umbel.Kinds
	Kind   umbel.Kind
	Goal   umbel.Goal // may be incomplete
	Params umbel.Params
	Keys   keys.Job
	Memory uint64 // bytes to use if the number of keys is unknown
}

// Result is a filter, and how it was made.
type Result struct {
	Filter umbel.Filter
	Read   uint64 // keys read, including repetitions
	// Distinct is the number of different keys, 0 if it was not counted. If Estimated is set, its
	// standard error is [distinct.Error].
	Distinct  uint64
	Estimated bool
	Fold      uint64 // factor by which a larger filter was folded, 0 for none
	Weights   *Gain  // what a log of queries has gained, nil without one
}

// Make makes the filter from the keys in the files. If the order doesn't determine its size, the
// different keys are counted first: see [Order.gather]. It returns an error wrapping umbel.ErrGoal if
// there are too many keys for the rate, or wrapping umbel.ErrLimit if a filter that grows reaches its
// limit. A filter that can be sealed is sealed.
func (o Order) Make(files []*os.File) (Result, error) {
	made, err := o.unsealed(files)
	if err != nil {
		return Result{}, err
	}
	if s, ok := made.Filter.(umbel.Sealer); ok {
		err = s.Seal()
	}
	return made, err
}

// FillEmpty is Make with an empty filter that exists, for any number of keys.
func (o Order) FillEmpty(f umbel.Filter, files []*os.File) (Result, error) {
	read, err := Add(f, o.Keys, files)
	if s, ok := f.(umbel.Sealer); ok && err == nil {
		err = s.Seal()
	}
	return Result{Filter: f, Read: read}, err
}

// unsealed is Make without sealing.
func (o Order) unsealed(files []*os.File) (Result, error) {
	again := offsets(files)
	o, sized, err := o.complete(again != nil)
	switch {
	case err != nil:
		return Result{}, err
	case sized:
		return o.fill(func(add func([]umbel.Digest) error) (uint64, error) { return o.Keys.Run(readers(files), add) })
	}
	return o.gather(files, again)
}

// Sized completes the order for another place than this program's memory: it counts the different
// keys of regular files if their number is missing, and returns to their offsets. It returns false if
// the order is still incomplete.
func (o Order) Sized(files []*os.File) (Order, bool, error) {
	again := offsets(files)
	o, sized, err := o.complete(again != nil)
	if err != nil || sized || again == nil {
		return o, sized, err
	}
	c, err := o.count(files, again)
	if err != nil {
		return o, false, err
	}
	return o.withKeys(c.plan()), true, rewind(files, again)
}

// withKeys completes the order with the number of keys that were counted.
func (o Order) withKeys(n uint64) Order {
	o.Goal.Keys = n
	o.Goal = spec.Complete(o.Kind, o.Goal, o.Params)
	return o
}

// complete sets the rate to [spec.DefaultRate] if the order needs one. It returns false if the order is
// still incomplete, because the number of keys is missing. counted is whether it can be counted.
func (o Order) complete(counted bool) (Order, bool, error) {
	if err := o.Kind.Check(o.Params); err != nil {
		return o, false, err
	}
	if o.determined() {
		return o, true, nil
	}
	count := o.Goal.Keys == 0 && counted
	if o.Goal.FPRate == 0 && (o.Goal.Keys == 0 && !count || o.Goal.Bytes == 0) && !o.determinedBy(count) {
		o.Goal.FPRate = spec.DefaultRate
	}
	return o, !count && (o.Goal.Keys > 0 || o.determined()), nil
}

// determined reports whether the order is complete.
func (o Order) determined() bool { return o.determinedBy(false) }

// determinedBy reports whether the order is complete, or will be by the number of keys.
func (o Order) determinedBy(count bool) bool {
	if count {
		o.Goal.Keys = 1
	}
	_, err := o.Kind.Plan(o.Goal, o.Params)
	return err == nil
}

// Remaining returns the number of bytes of f after its offset, and false if f isn't a regular
// file.
func Remaining(f *os.File) (int64, bool) {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return 0, false
	}
	offset, err := f.Seek(0, io.SeekCurrent)
	return max(info.Size()-offset, 0), err == nil
}

// empty makes the empty filter of the order, if there is memory for it.
func (o Order) empty() (umbel.Filter, umbel.Forecast, error) {
	forecast, err := o.Kind.Plan(o.Goal, o.Params)
	if err != nil {
		return nil, forecast, err
	}
	what := fmt.Sprintf("a filter of kind %s for %v keys at a rate of %s", o.Kind.Name, quantity.Count(forecast.Keys), quantity.Rate(forecast.FPRate).Percent())
	if err := container.Fits(what, forecast.Bytes); err != nil {
		return nil, forecast, err
	}
	f, err := o.Kind.New(o.Goal, o.Params)
	return f, forecast, err
}

// fill makes the filter that the order determines and adds the keys that run passes to add. run
// returns their number.
func (o Order) fill(run func(add func([]umbel.Digest) error) (uint64, error)) (Result, error) {
	f, forecast, err := o.empty()
	if err != nil {
		return Result{}, err
	}
	if g, ok := grower(f); ok {
		read, err := run(admit(g, forecast.Keys))
		return Result{Filter: f, Read: read}, err
	}
	add, flush := filler(f, o.Keys.Workers)
	read, err := run(always(add))
	flush()
	return Result{Filter: f, Read: read}, err
}

// growing is a filter that grows, or rejects keys.
type growing interface {
	umbel.Filter
	umbel.Grower
}

// grower returns f if it manages its own capacity. A filter with a clock doesn't: all keys of
// one run have the same age, and its capacity is for the keys of a period.
func grower(f umbel.Filter) (growing, bool) {
	g, ok := f.(growing)
	_, clock := f.(umbel.Advancer)
	return g, ok && !clock
}

// admit returns a function that adds the planned number of keys unconditionally, and others
// until g rejects one. It is safe for concurrent use.
func admit(g growing, planned uint64) func([]umbel.Digest) error {
	var mu sync.Mutex
	return func(ds []umbel.Digest) error {
		mu.Lock()
		defer mu.Unlock()
		sure := min(planned, uint64(len(ds)))
		umbel.AddAll(g, nil, ds[:sure])
		planned -= sure
		for _, d := range ds[sure:] {
			if _, err := g.TryAdd(d); err != nil {
				return err
			}
		}
		return nil
	}
}

// Add adds all keys of the files to f, with the workers of the job, and returns their number.
// If keys determine their class they are added with it. If f is an umbel.Grower and reaches its
// limit, Add returns an error wrapping umbel.ErrLimit; some keys are then added. A filter with a clock has
// no limit.
func Add(f umbel.Filter, job keys.Job, files []*os.File) (uint64, error) {
	if g, ok := grower(f); ok {
		return job.Run(readers(files), admit(g, 0))
	}
	job.Take = taker(f)
	add, flush := filler(f, job.Workers)
	defer flush()
	return job.Run(readers(files), always(add))
}

// always returns add with a nil error.
func always(add func([]umbel.Digest)) func([]umbel.Digest) error {
	return func(ds []umbel.Digest) error {
		add(ds)
		return nil
	}
}

func readers(files []*os.File) []io.Reader {
	rs := make([]io.Reader, len(files))
	for i, f := range files {
		rs[i] = f
	}
	return rs
}

// taker returns a function that adds keys with the class that they determine, nil if f has no
// such classes.
func taker(f umbel.Filter) func(key []byte, d umbel.Digest) bool {
	c, ok := f.(umbel.Classifier)
	if !ok {
		return nil
	}
	if _, ok := c.Class(nil); !ok {
		return nil
	}
	var mu sync.Mutex
	return func(key []byte, d umbel.Digest) bool {
		class, _ := c.Class(key)
		mu.Lock()
		defer mu.Unlock()
		c.AddClass(d, class)
		return true
	}
}

// loaderAlone is the size from which a loader is faster than a BatchAdder for one goroutine, which needs no atomic
// instructions: that of a shared cache.
const loaderAlone = 32 << 20

// filler is adder for a filter that nobody reads until all keys are added. The second function adds what the first has
// collected. A large filter is filled by an [umbel.Loader] if there is memory for it.
func filler(f umbel.Filter, workers int) (add func([]umbel.Digest), flush func()) {
	if b, ok := f.(umbel.BulkAdder); ok {
		size := f.State().Bytes()
		free, known := memory.Available()
		if !known {
			free = math.MaxUint64
		}
		if workers > 1 || size >= loaderAlone {
			if l := b.NewLoader(free - min(size, free)); l != nil { // the pages of a new filter aren't in use yet
				return l.AddAll, l.Flush
			}
		}
	}
	return adder(f, workers), func() {}
}

// adder returns a function that adds digests, safe for use by that many goroutines.
func adder(f umbel.Filter, workers int) func([]umbel.Digest) {
	if workers > 1 {
		if a, ok := f.(umbel.AtomicBatchAdder); ok {
			return a.AddAllAtomic
		}
	}
	var mu sync.Mutex
	return func(ds []umbel.Digest) {
		mu.Lock()
		defer mu.Unlock()
		umbel.AddAll(f, nil, ds)
	}
}

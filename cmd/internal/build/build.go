// Package build makes filters from streams of keys.
package build

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"sync"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/container"
	"github.com/umbel-filters/umbel/cmd/internal/keys"
	"github.com/umbel-filters/umbel/cmd/internal/quantity"
)

// Order is a filter to be made.
type Order struct {
	Kinds  umbel.Kinds
	Kind   umbel.Kind
	Goal   umbel.Goal // as far as it is given
	Params umbel.Params
	Keys   keys.Job
	Memory uint64 // bytes for a filter whose number of keys isn't known
}

// DefaultRate is the false-positive rate of a filter for which none is given.
const DefaultRate = 0.01

// Result is a filter that was made.
type Result struct {
	Filter umbel.Filter
	Read   uint64 // keys read, repeated ones included
	Fold   uint64 // factor by which a larger filter was folded to fit; 0 if it wasn't
}

// Make makes the filter from the keys in the files. If the order doesn't tell its
// size, the keys are counted first, where all files are regular ones. Otherwise
// their digests are kept as long as they are few, and then go to a filter as large
// as memory allows, which is folded down at the end. If more keys come than the
// rate wanted allows, the error wraps umbel.ErrGoal: the rate is never above it. A
// filter that grows takes them and does as its kind does; where it is at its limit
// the error wraps umbel.ErrLimit. One that can be sealed is.
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

// unsealed is Make but for the last step of a filter that is sealed.
func (o Order) unsealed(files []*os.File) (Result, error) {
	o, sized, err := o.Sized(files)
	switch {
	case err != nil:
		return Result{}, err
	case sized:
		return o.fill(files)
	}
	return o.stream(files)
}

// Sized returns the order with all that its kind needs, and whether it has that: if it doesn't
// tell its size, the keys are counted where all files are regular ones, and the rate is
// [DefaultRate] where none is given.
func (o Order) Sized(files []*os.File) (Order, bool, error) {
	if err := o.Kind.Check(o.Params); err != nil {
		return o, false, err
	}
	if o.determined() {
		return o, true, nil
	}
	if o.Goal.Keys == 0 {
		n, counted, err := o.count(files)
		if err != nil {
			return o, false, err
		}
		if counted {
			o.Goal.Keys = max(n, 1)
		}
	}
	if o.Goal.FPRate == 0 && (o.Goal.Keys == 0 || o.Goal.Bytes == 0) && !o.determined() {
		o.Goal.FPRate = DefaultRate
	}
	return o, o.Goal.Keys > 0 || o.determined(), nil
}

// determined reports whether the order tells all that the kind needs.
func (o Order) determined() bool {
	_, err := o.Kind.Plan(o.Goal, o.Params)
	return err == nil
}

// count returns the number of keys in the files, from where they stand, and false
// if one of them isn't a regular file.
func (o Order) count(files []*os.File) (uint64, bool, error) {
	var keysThere uint64
	for _, f := range files {
		size, ok := Remaining(f)
		if !ok {
			return 0, false, nil
		}
		offset, err := f.Seek(0, io.SeekCurrent)
		if err != nil {
			return 0, false, err
		}
		n, err := keys.Count(io.NewSectionReader(f, offset, size), size, o.Keys.Format, o.Keys.Workers)
		if err != nil {
			return 0, false, err
		}
		keysThere += n
	}
	return keysThere, true, nil
}

// Remaining returns how many bytes are still to be read from f, and false if it
// isn't a regular file.
func Remaining(f *os.File) (int64, bool) {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return 0, false
	}
	offset, err := f.Seek(0, io.SeekCurrent)
	return max(info.Size()-offset, 0), err == nil
}

// new makes the empty filter of the order, if there is memory for it.
func (o Order) new() (umbel.Filter, umbel.Forecast, error) {
	forecast, err := o.Kind.Plan(o.Goal, o.Params)
	if err != nil {
		return nil, forecast, err
	}
	what := fmt.Sprintf("a filter of kind %s for %v keys at a rate of %.3g", o.Kind.Name, quantity.Count(forecast.Keys), forecast.FPRate)
	if err := container.Fits(what, forecast.Bytes); err != nil {
		return nil, forecast, err
	}
	f, err := o.Kind.New(o.Goal, o.Params)
	return f, forecast, err
}

// fill makes the filter that the order determines and adds the keys.
func (o Order) fill(files []*os.File) (Result, error) {
	f, forecast, err := o.new()
	if err != nil {
		return Result{}, err
	}
	add, grows := always(adder(f, o.Keys.Workers)), false
	if g, ok := grower(f); ok {
		add, grows = admit(g, forecast.Keys), true
	}
	read, err := o.Keys.Run(readers(files), add)
	if err == nil && !grows && !forgets(f) {
		err = o.Check(f.Stats(), forecast.Keys, read)
	}
	return Result{Filter: f, Read: read}, err
}

// growing is a filter that grows with its keys, or refuses them.
type growing interface {
	umbel.Filter
	umbel.Grower
}

// grower returns f as one whose room for keys is its own affair. One that is told the
// time isn't: all keys of one run are as old, and its room is for those of a while.
func grower(f umbel.Filter) (growing, bool) {
	g, ok := f.(growing)
	_, told := f.(umbel.Advancer)
	return g, ok && !told
}

// forgets reports whether an empty filter makes room by itself for what is new, without
// being told the time.
func forgets(f umbel.Filter) bool {
	a, ok := f.(umbel.Advancer)
	return ok && errors.Is(a.Advance(0), errors.ErrUnsupported)
}

// admit returns a function that many goroutines may call at once. It adds the planned
// number of keys in any case, and those beyond as long as g takes them.
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

// Check returns an error that wraps umbel.ErrGoal if more distinct keys were read
// than planned and the rate wanted isn't kept, by what is measured of the filter. Half of the time the estimate of their
// number is above the truth. So the order is broken only if more keys were read than
// planned and, with their repetitions left out, are still more by the lower bound.
func (o Order) Check(stats umbel.Stats, planned, read uint64) error {
	if o.Goal.FPRate == 0 || read <= planned || stats.Low <= float64(planned) || stats.FPRate <= o.Goal.FPRate {
		return nil
	}
	distinct, enough := "", math.Ceil(stats.High)
	if math.IsInf(enough, 1) { // the filter is full and can't tell
		enough = float64(read)
	} else {
		distinct = fmt.Sprintf(", about %v of them distinct", quantity.Count(math.Round(stats.Keys)))
	}
	return fmt.Errorf("%v keys were read%s, and the filter is for %v at a rate of %.3g: it would answer at %.3g; give --keys %.0f: %w",
		quantity.Count(read), distinct, quantity.Count(planned), o.Goal.FPRate, stats.FPRate, enough, umbel.ErrGoal)
}

// Add adds all keys of the files to f, with all workers of the job, and returns
// their number. Where the keys themselves tell their class they are added with it. If
// f is an umbel.Grower that a key would take beyond its limit, the
// error wraps umbel.ErrLimit, and some of the keys are in it.
func Add(f umbel.Filter, job keys.Job, files []*os.File) (uint64, error) {
	if g, ok := f.(growing); ok {
		return job.Run(readers(files), admit(g, 0))
	}
	job.Take = taker(f)
	return job.Run(readers(files), always(adder(f, job.Workers)))
}

// always makes a function that can't fail one that doesn't.
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

// taker returns a function that takes keys whose class they tell themselves, nil if f
// knows none.
func taker(f umbel.Filter) func(key []byte, d umbel.Digest) bool {
	c, ok := f.(umbel.Classifier)
	if !ok {
		return nil
	}
	if _, tells := c.Class(nil); !tells {
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

// adder returns a function that so many goroutines may call at once.
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

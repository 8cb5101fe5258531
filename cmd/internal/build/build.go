// Package build makes filters from streams of keys.
package build

import (
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/container"
	"github.com/umbel-filters/umbel/cmd/internal/keys"
	"github.com/umbel-filters/umbel/cmd/internal/quantity"
)

// Order is a filter to be made.
type Order struct {
	Variants umbel.Variants
	Variant  umbel.Variant
	Goal     umbel.Goal // as far as it is given
	Params   umbel.Params
	Keys     keys.Job
	Memory   uint64 // bytes for a filter whose number of keys isn't known
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
// rate wanted allows, the error wraps umbel.ErrGoal: the rate is never above it.
func (o Order) Make(files []*os.File) (Result, error) {
	if err := o.Variant.Check(o.Params); err != nil {
		return Result{}, err
	}
	if o.determined() {
		return o.fill(files)
	}
	if o.Goal.Keys == 0 {
		n, counted, err := o.count(files)
		if err != nil {
			return Result{}, err
		}
		if counted {
			o.Goal.Keys = max(n, 1)
		}
	}
	if o.Goal.FPRate == 0 && !o.determined() {
		o.Goal.FPRate = DefaultRate
	}
	if o.Goal.Keys == 0 && !o.determined() {
		return o.stream(files)
	}
	return o.fill(files)
}

// determined reports whether the order tells all that the kind needs.
func (o Order) determined() bool {
	_, err := o.Variant.Plan(o.Goal, o.Params)
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
	forecast, err := o.Variant.Plan(o.Goal, o.Params)
	if err != nil {
		return nil, forecast, err
	}
	what := fmt.Sprintf("a %s filter for %v keys at a rate of %.3g", o.Variant.Kind, quantity.Count(forecast.Keys), forecast.FPRate)
	if err := container.Fits(what, forecast.Bytes); err != nil {
		return nil, forecast, err
	}
	f, err := o.Variant.New(o.Goal, o.Params)
	return f, forecast, err
}

// fill makes the filter that the order determines and adds the keys.
func (o Order) fill(files []*os.File) (Result, error) {
	f, forecast, err := o.new()
	if err != nil {
		return Result{}, err
	}
	read, err := Add(f, o.Keys, files)
	if err != nil {
		return Result{}, err
	}
	// Half of the time the estimate is above the truth. So the order is broken only
	// if more keys were read than planned and, with their repetitions left out, are
	// still more by the lower bound.
	stats := f.Stats()
	if o.Goal.FPRate != 0 && read > forecast.Keys && stats.Low > float64(forecast.Keys) {
		return Result{}, fmt.Errorf("%v keys were read, about %.0f of them distinct, and the filter is for %v at a rate of %.3g: it would answer at %.3g; give --keys %.0f: %w",
			quantity.Count(read), stats.Keys, quantity.Count(forecast.Keys), o.Goal.FPRate, stats.FPRate, stats.High, umbel.ErrGoal)
	}
	return Result{Filter: f, Read: read}, nil
}

// Add adds all keys of the files to f, with all workers of the job, and returns
// their number.
func Add(f umbel.Filter, job keys.Job, files []*os.File) (uint64, error) {
	add := adder(f, job.Workers)
	return job.Run(readers(files), func(ds []umbel.Digest) error {
		add(ds)
		return nil
	})
}

func readers(files []*os.File) []io.Reader {
	rs := make([]io.Reader, len(files))
	for i, f := range files {
		rs[i] = f
	}
	return rs
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

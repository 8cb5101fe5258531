// Package build makes filters of the keys in files.
package build

import (
	"errors"
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
	"github.com/umbel-filters/umbel/filter/build"
	"github.com/umbel-filters/umbel/internal/distinct"
	"github.com/umbel-filters/umbel/internal/filling"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Order describes a filter to make.
type Order struct {
	Kind   umbel.Kind
	Goal   umbel.Goal // may be incomplete
	Params umbel.Params
	Keys   keys.Job
	Memory uint64 // bytes to use if the number of keys is unknown
}

// Result is a filter, and how it was made.
type Result struct {
	build.Result
	Weights *Gain // what a log of queries has gained, nil without one
}

// Make makes the filter from the keys in the files. If the order doesn't determine its size, the
// different keys are counted first: see package filter/build. It returns an error wrapping umbel.ErrGoal if
// there are too many keys for the rate, or wrapping umbel.ErrLimit if a filter that grows reaches its
// limit. A filter that can be sealed is sealed.
func (o Order) Make(files []*os.File) (Result, error) {
	again := offsets(files)
	o, _, err := o.complete(again != nil)
	if err != nil {
		return Result{}, err
	}
	passes := 0
	made, err := build.Order{
		Kind: o.fitting(), Goal: o.Goal, Params: o.Params,
		Twice: again != nil, Memory: o.Memory, Spare: spare(o.Memory / 8), Workers: o.Keys.Workers,
	}.Make(func(add func([]umbel.Digest) error) error {
		if passes++; passes == 2 {
			o.Keys.Tick = nil // the progress bar was for the first pass
			if err := rewind(files, again); err != nil {
				return err
			}
		}
		_, err := o.Keys.Run(readers(files), add)
		return err
	})
	return Result{Result: made}, o.explain(err)
}

// ErrUnsized is the error of an order that needs the number of keys for its size.
var ErrUnsized = errors.New("the size depends on the number of keys")

// Determined completes an order that determines its filter whatever keys come, as those of all parts of a filter must. The
// error wraps ErrUnsized if it depends on their number.
func (o Order) Determined() (Order, error) {
	o, sized, err := o.complete(false)
	if err == nil && !sized {
		err = ErrUnsized
	}
	o.Goal = spec.Complete(o.Kind, o.Goal, o.Params)
	return o, err
}

// MakeOf is Make for sources that are read once, with an order that is determined.
func (o Order) MakeOf(sources []io.Reader) (Result, error) {
	made, err := build.Order{Kind: o.fitting(), Goal: o.Goal, Params: o.Params, Memory: o.Memory, Spare: spare(0), Workers: o.Keys.Workers}.Make(
		func(add func([]umbel.Digest) error) error {
			_, err := o.Keys.Run(sources, add)
			return err
		})
	return Result{Result: made}, o.explain(err)
}

// explain replaces the remedy for a library's caller in an error by that for the user of a command.
func (o Order) explain(err error) error {
	little, ok := errors.AsType[*filling.RoomError](err)
	if !ok {
		return err
	}
	const remedy = "give --keys, or key files instead of a pipe, or more --max-memory"
	if little.Keys == 0 {
		return sentinel.Errorf(umbel.ErrGoal, "kind %s neither folds nor grows, and needs the number of keys; %s", little.Kind, remedy)
	}
	return sentinel.Errorf(umbel.ErrGoal, "the keys of the pipe need more than %v of memory, in which a filter holds %v at a rate of %s; %s",
		quantity.Size(little.Memory), quantity.Count(little.Keys), quantity.Rate(little.FPRate).Percent(), remedy)
}

// fitting is the kind of the order, which completes goals as [spec.Complete] does, and makes filters only if there is memory for them.
func (o Order) fitting() umbel.Kind {
	kind, fitting := o.Kind, o.Kind
	fitting.Plan = func(g umbel.Goal, ps umbel.Params) (umbel.Forecast, error) {
		return kind.Plan(spec.Complete(kind, g, ps), ps)
	}
	fitting.New = func(g umbel.Goal, ps umbel.Params) (umbel.Filter, error) {
		g = spec.Complete(kind, g, ps)
		forecast, err := kind.Plan(g, ps)
		if err != nil {
			return nil, err
		}
		what := fmt.Sprintf("a filter of kind %s for %v keys at a rate of %s", kind.Name, quantity.Count(forecast.Keys), quantity.Rate(forecast.FPRate).Percent())
		if err := container.Fits(what, forecast.Bytes); err != nil {
			return nil, err
		}
		return kind.New(g, ps)
	}
	return fitting
}

// spare returns the memory that is free after the given number of bytes is used.
func spare(used uint64) uint64 {
	free, known := memory.Available()
	if !known {
		return math.MaxUint64
	}
	return free - min(used, free)
}

// FillEmpty is Make with an empty filter that exists, for any number of keys.
func (o Order) FillEmpty(f umbel.Filter, files []*os.File) (Result, error) {
	read, err := Add(f, o.Keys, files)
	if s, ok := f.(umbel.Sealer); ok && err == nil {
		err = s.Seal()
	}
	return Result{Result: build.Result{Filter: f, Read: read}}, err
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
	c := distinct.NewCounter(o.Memory/8, false, nil)
	if _, err := o.Keys.Run(readers(files), c.Add); err != nil {
		return o, false, err
	}
	o.Goal.Keys = c.Plan()
	o.Goal = spec.Complete(o.Kind, o.Goal, o.Params)
	return o, true, rewind(files, again)
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

// Add adds all keys of the files to f, with the workers of the job, and returns their number.
// If keys determine their class they are added with it. If f is an umbel.Grower and reaches its
// limit, Add returns an error wrapping umbel.ErrLimit; some keys are then added. A filter with a clock has
// no limit.
func Add(f umbel.Filter, job keys.Job, files []*os.File) (uint64, error) {
	return AddOf(f, job, readers(files))
}

// AddOf is Add for sources of any kind.
func AddOf(f umbel.Filter, job keys.Job, sources []io.Reader) (uint64, error) {
	if !filling.Grows(f) {
		job.Take = taker(f)
	}
	add, flush := filling.Filler(f, job.Workers, 0, spare(f.State().Bytes())) // the pages of a new filter aren't in use yet
	defer flush()
	return job.Run(sources, add)
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

// offsets returns the offsets of regular files, and nil if one of the files is a pipe.
func offsets(files []*os.File) []int64 {
	again := []int64{}
	for _, f := range files {
		offset, err := f.Seek(0, io.SeekCurrent)
		if _, regular := Remaining(f); !regular || err != nil {
			return nil
		}
		again = append(again, offset)
	}
	return again
}

// rewind sets the offsets of files.
func rewind(files []*os.File, offsets []int64) error {
	for i, f := range files {
		if _, err := f.Seek(offsets[i], io.SeekStart); err != nil {
			return err
		}
	}
	return nil
}

// Package build makes a filter of keys whose number is unknown until all of them are read, for example those of a file or a
// query, in bounded memory.
//
// An [Order] describes the filter. Its method Make reads the keys once or twice. An eighth of the memory is for the digests of
// the different keys: if they fit, the filter is the one that a plan for their number makes. Otherwise keys that
// can be read twice are counted by a sketch with a standard error of 0.2 %, and the filter is planned for 0.8 % more. Keys
// that come once are added to a filter of half of the memory, which is folded to the rate at the end; it may be
// up to twice as large as with their number. A kind that grows just grows.
//
// If the number of keys is known, make the filter with it and add the keys: a plan needs no count.
package build

import (
	"sync/atomic"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/distinct"
	"github.com/umbel-filters/umbel/internal/filling"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// defaultMemory is the memory of an [Order] without one: its digests are those of about 3 million different keys.
const defaultMemory = 512 << 20

// Order describes a filter to make.
type Order struct {
	Kind umbel.Kind
	// Goal has a rate or bytes; if both, or Params, determine the filter, keys are added to it without a count. Keys that are read
	// once need a rate. The digests are those of Goal.Hasher.
	Goal   umbel.Goal
	Params umbel.Params
	// Twice states that the source can be called twice, and then passes the same keys.
	Twice bool
	// Memory is the number of bytes to use while the number of keys is unknown, apart from the filter itself; 0 means 512 MiB.
	Memory uint64
	// Spare is the number of bytes that filling a large filter may take in addition, for an [umbel.Loader]; 0 for none.
	Spare uint64
	// Workers is the number of goroutines in which the source calls add; 0 means 1.
	Workers int
}

// Result is a filter, and how it was made.
type Result struct {
	Filter umbel.Filter
	Read   uint64 // keys read, including repetitions
	// Distinct is the number of different keys, 0 if it was not counted. If Estimated is set, its
	// standard error is 0.2 %.
	Distinct  uint64
	Estimated bool
	Fold      uint64 // factor by which a larger filter was folded, 0 for none
}

// Make makes a filter of the keys of a source. The source passes the digests of all keys to add, in batches of any size, and
// returns an error of its own, or that of add. It may call add from several goroutines: see [Order]. A filter that
// can be sealed is sealed. If keys are repeated, a filter with removal contains them as often.
//
// The error is that of the source, or wraps umbel.ErrGoal if no filter meets the goal or there is too little memory for its
// rate, or umbel.ErrLimit if a filter that grows reaches its limit.
func (o Order) Make(source func(add func([]umbel.Digest) error) error) (Result, error) {
	if o.Memory == 0 {
		o.Memory = defaultMemory
	}
	o.Workers = max(o.Workers, 1)
	made, err := o.unsealed(source)
	if err != nil {
		return Result{}, err
	}
	if s, ok := made.Filter.(umbel.Sealer); ok {
		err = s.Seal()
	}
	return made, err
}

// unsealed is Make without sealing.
func (o Order) unsealed(source func(add func([]umbel.Digest) error) error) (Result, error) {
	if err := o.Kind.Check(o.Params); err != nil {
		return Result{}, err
	}
	_, unplanned := o.Kind.Plan(o.Goal, o.Params)
	switch {
	case unplanned == nil || o.Goal.Keys > 0:
		return o.fill(source)
	case o.Goal.FPRate == 0 && !o.Twice:
		return Result{}, sentinel.Errorf(umbel.ErrGoal, "keys that are read once need a rate or their number; set Goal.FPRate or Goal.Keys")
	}
	return o.gather(source)
}

// gather counts the keys, and then makes the filter.
func (o Order) gather(source func(add func([]umbel.Digest) error) error) (Result, error) {
	var b *base
	var c *distinct.Counter
	var full func() (func([]umbel.Digest) error, error)
	if !o.Twice {
		full = func() (add func([]umbel.Digest) error, err error) {
			b, err = o.newBase(c)
			return b.add, err
		}
	}
	c = distinct.NewCounter(o.Memory/8, o.countsRepetitions(), full)
	if err := source(c.Add); err != nil {
		return Result{}, err
	}
	if b != nil {
		return b.finish(c.Read())
	}
	o.Goal.Keys = c.Plan()
	stored := true
	made, err := o.fill(func(add func([]umbel.Digest) error) (err error) {
		if stored, err = c.Pour(add); !stored {
			err = source(add)
		}
		return err
	})
	made.Read = c.Read()
	made.Distinct, made.Estimated = c.Count()
	return made, err
}

// fill makes the filter that the order determines and adds the keys of the source.
func (o Order) fill(source func(add func([]umbel.Digest) error) error) (Result, error) {
	forecast, err := o.Kind.Plan(o.Goal, o.Params)
	if err != nil {
		return Result{}, err
	}
	f, err := o.Kind.New(o.Goal, o.Params)
	if err != nil {
		return Result{}, err
	}
	add, flush := filling.Filler(f, o.Workers, forecast.Keys, o.Spare-min(o.Spare, forecast.Bytes))
	var read atomic.Uint64
	err = source(func(ds []umbel.Digest) error {
		read.Add(uint64(len(ds)))
		return add(ds)
	})
	flush()
	return Result{Filter: f, Read: read.Load()}, err
}

// countsRepetitions reports whether the filter counts how often a key was added: whether it has Remove, perhaps only with one of
// the parameters. It makes small filters to find out.
func (o Order) countsRepetitions() bool {
	small := umbel.Goal{Keys: 100, FPRate: 0.01}
	removes := func(ps umbel.Params) bool {
		f, err := o.Kind.New(small, ps)
		_, ok := f.(umbel.Remover)
		return err == nil && ok
	}
	if removes(nil) {
		return true
	}
	for _, doc := range o.Kind.Params {
		if _, given := o.Params.Get(doc.Name); !given {
			continue
		}
		least := umbel.Uint(uint64(doc.Min))
		if doc.Float {
			least = umbel.Float(doc.Min)
		}
		if removes(umbel.Params{{Name: doc.Name, Value: least}}) {
			return true
		}
	}
	return false
}

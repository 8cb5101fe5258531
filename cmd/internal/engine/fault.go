package engine

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// A panic in code that only reads a filter is a fault of that filter: it has released its locks and has changed
// nothing, so the caller gets an error and the node continues. The same holds while a filter is planned, made or
// opened, before it is in the engine. A panic in a change is not caught here, because it may leave half a change, and
// ends the process.

// ErrFault means that code that reads, makes or opens a filter panicked. Nothing has changed.
var ErrFault = errors.New("because of a fault in umbel: see the log of the node")

// Fault is a panic that was caught.
type Fault struct {
	Filter *Filter // that was read; nil: it was made or opened
	Kind   string  // of the filter
	Panic  any
	Stack  []byte
}

// CatchFault makes a panic of the function that defers it the error *err, wrapping ErrFault, and notes that the filter
// is faulty. It is deferred first, so that the locks of the function are released before. The function must not change
// filters, must release by defer whatever it holds, and must leave nothing half done:
//
//	func (f *Filter) look() (err error) {
//		defer f.CatchFault(&err)
//
// It is safe for concurrent use.
func (f *Filter) CatchFault(err *error) {
	if v := recover(); v != nil {
		f.noteFault(v, debug.Stack())
		*err = fmt.Errorf("filter %q cannot be read %w", f.Name(), ErrFault)
	}
}

// CatchFault is that of a filter for a function that makes a filter of a kind which is not in the engine yet.
func (e *Engine) CatchFault(kind string, err *error) {
	if v := recover(); v != nil {
		e.faults.Add(1)
		e.report(Fault{Kind: kind, Panic: v, Stack: debug.Stack()})
		*err = fmt.Errorf("a filter of kind %s cannot be made or opened %w", kind, ErrFault)
	}
}

func (e *Engine) report(f Fault) {
	if e.onFault != nil {
		e.onFault(f)
	}
}

// noteFault counts a fault, and reports the first one of the filter.
func (f *Filter) noteFault(v any, stack []byte) {
	e := f.engine
	e.faults.Add(1)
	if f.flags.Or(flagFaulty)&flagFaulty != 0 {
		return
	}
	e.index.Lock()
	if e.names.find(f.Name()) == f { // otherwise it was deleted
		e.faulty[f] = struct{}{}
	}
	e.index.Unlock()
	e.report(Fault{f, f.Kind(), v, stack})
}

// endFault notes that the cells of a faulty filter were replaced.
func (f *Filter) endFault() {
	if !f.is(flagFaulty) {
		return
	}
	f.set(flagFaulty, false)
	f.engine.index.Lock()
	defer f.engine.index.Unlock()
	delete(f.engine.faulty, f)
}

// Faults returns the number of faults since the start, and how many filters are faulty: reading them has panicked since
// they were made or their cells were replaced.
func (e *Engine) Faults() (total uint64, filters int) {
	e.index.RLock()
	defer e.index.RUnlock()
	return e.faults.Load(), len(e.faulty)
}

// guarded returns kinds whose functions return panics as errors. A state that makes Open panic is also corrupt: a start
// treats it as any other that cannot be opened.
func (e *Engine) guarded(kinds umbel.Kinds) umbel.Kinds {
	all := make(umbel.Kinds, len(kinds))
	for i, k := range kinds {
		own := k
		k.Plan = func(g umbel.Goal, ps umbel.Params) (f umbel.Forecast, err error) {
			defer e.CatchFault(own.Name, &err)
			return own.Plan(g, ps)
		}
		k.New = func(g umbel.Goal, ps umbel.Params) (f umbel.Filter, err error) {
			defer e.CatchFault(own.Name, &err)
			return own.New(g, ps)
		}
		k.Open = func(s umbel.State) (f umbel.Filter, err error) {
			defer func() {
				if errors.Is(err, ErrFault) {
					err = sentinel.Wrap(umbel.ErrCorrupt, err)
				}
			}()
			defer e.CatchFault(own.Name, &err)
			return own.Open(s)
		}
		all[i] = k
	}
	return all
}

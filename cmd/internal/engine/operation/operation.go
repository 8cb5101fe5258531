// Package operation is the table of the operations that change a whole filter, such as fold. The engine and its log, the routes of
// HTTP, the commands UM.*, the client and the verbs use its rows.
package operation

import (
	"errors"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Operation changes a filter of the kinds that support it. It takes at most one number.
type Operation struct {
	Name     string // of the route, and of the command after UM.
	Summary  string
	Number   Number
	Frees    bool // it needs no room, so that a full disk does not prevent it
	Enlarges bool // the cells become as many times more as the number states
	Removes  bool // the user needs the right to remove keys instead of that to add some

	cannot string // words after the name of a kind without the operation
	in     func(umbel.Filter) bool
	do     func(umbel.Filter, umbel.Number) error
}

// Number is the number that an operation takes.
type Number struct {
	Name     string // in JSON; "" for an operation without a number
	Word     string // in the syntax of commands
	Rate     bool   // a rate, which may be omitted; otherwise it is a whole number
	Positive bool
	Example  string // in JSON
}

var factor = Number{Name: "factor", Word: "factor", Positive: true, Example: "2"}

// The operations.
var (
	Fold = row(Operation{
		Name:    "fold",
		Summary: "Shrinks a filter by a factor, as far as its rate stays at most p, or to at most n bytes. Keeps all keys. Returns the factor.",
		Number:  factor, Frees: true, Removes: true, cannot: "can't fold",
	}, func(f folder, n umbel.Number) error {
		if err := f.Fold(n.Bits()); err != nil {
			return err
		}
		if p, ok := f.(umbel.Planner); ok && p.Planned() != (umbel.Planned{}) {
			s := f.Stats()
			p.SetPlanned(p.Planned().Accepting(s.Keys, s.FPRate)) // a filter is folded to have less memory at this rate
		}
		return nil
	})
	Unfold = row(Operation{
		Name:    "unfold",
		Summary: "Enlarges a filter by a factor, for more keys.",
		Number:  factor, Enlarges: true, Removes: true, cannot: "can't unfold",
	}, func(f folder, n umbel.Number) error { return f.Unfold(n.Bits()) })
	Compact = row(Operation{
		Name:    "compact",
		Summary: "Joins the layers of a filter as far as its rate stays at most p (default 1%).",
		Number:  Number{Name: "fpRate", Word: "RATE", Rate: true}, Removes: true, cannot: "has no layers to join",
	}, func(f interface{ Compact(fpRate float64) error }, p umbel.Number) error { return f.Compact(p.Float()) })
	Clear = row(Operation{
		Name:    "clear",
		Summary: "Removes all keys; kind, hash and size stay.",
		Frees:   true, Removes: true, cannot: "can't clear",
	}, func(f umbel.Clearer, _ umbel.Number) error { f.Clear(); return nil })
	Advance = row(Operation{
		Name:    "advance",
		Summary: "Advances the clock of a window, which drops expired keys.",
		Number:  Number{Name: "to", Word: "time", Example: "5"}, Removes: true, cannot: "can't advance",
	}, func(f umbel.Advancer, to umbel.Number) error { return f.Advance(to.Bits()) })
	Seal = row(Operation{
		Name:    "seal",
		Summary: "Builds the final form of a ribbon filter, which needs less memory.",
		cannot:  "can't seal",
	}, func(f umbel.Sealer, _ umbel.Number) error { return f.Seal() })
)

// All has all operations.
var All = []*Operation{Fold, Unfold, Compact, Clear, Advance, Seal}

type folder interface {
	umbel.Filter
	umbel.Folder
}

// row returns the operation op, which filters that are an I support. do performs it.
func row[I any](op Operation, do func(I, umbel.Number) error) *Operation {
	op.in = is[I]
	op.do = func(f umbel.Filter, n umbel.Number) error { return do(f.(I), n) }
	return &op
}

func is[I any](f umbel.Filter) bool {
	_, ok := f.(I)
	return ok
}

// Check returns an error wrapping errors.ErrUnsupported if f does not support the operation.
func (op *Operation) Check(f umbel.Filter) error {
	if op.in(f) {
		return nil
	}
	return sentinel.Errorf(errors.ErrUnsupported, "kind %s %s", f.State().Kind, op.cannot)
}

// Do performs the operation in place. n is Uint for a whole number, Float for a rate, and without a meaning for an operation without a
// number. The error is that of Check, or that of the method of f.
func (op *Operation) Do(f umbel.Filter, n umbel.Number) error {
	if err := op.Check(f); err != nil {
		return err
	}
	return op.do(f, n)
}

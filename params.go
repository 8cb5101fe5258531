package umbel

import (
	"fmt"
	"math"
	"strings"
)

// Param is one named number of a state. Names are lower case, digits and hyphens.
type Param struct {
	Name  string
	Value Number
}

// Number is a whole number or a finite float. Its zero value is the whole number
// 0. Numbers are compared with ==.
type Number struct {
	bits  uint64
	float bool
}

// Uint returns the whole number u.
func Uint(u uint64) Number { return Number{bits: u} }

// Float returns the float f. Floats are for records of what was planned: nothing
// that fixes a position is one.
func Float(f float64) Number { return Number{bits: math.Float64bits(f), float: true} }

// IsFloat reports whether n is a float.
func (n Number) IsFloat() bool { return n.float }

// Bits returns a whole number itself, and the IEEE 754 bits of a float.
func (n Number) Bits() uint64 { return n.bits }

// Float returns n as a float, rounded if it is a whole number beyond 2^53.
func (n Number) Float() float64 {
	if n.float {
		return math.Float64frombits(n.bits)
	}
	return float64(n.bits)
}

// String returns n in decimal.
func (n Number) String() string {
	if n.float {
		return fmt.Sprint(n.Float())
	}
	return fmt.Sprint(n.bits)
}

// Params are the named numbers of a state, in the order of its kind's
// specification. What a caller gives to Kind.New may be in any order.
type Params []Param

// Get returns the number of that name, and whether there is one.
func (ps Params) Get(name string) (Number, bool) {
	for _, p := range ps {
		if p.Name == name {
			return p.Value, true
		}
	}
	return Number{}, false
}

// Uint returns the whole number of that name, and 0 if there is none.
func (ps Params) Uint(name string) uint64 {
	n, _ := ps.Get(name)
	if n.float {
		return 0
	}
	return n.bits
}

// Uints reads the parameters of a state: it sets *dst[i] to the whole number
// called names[i]. The error wraps [ErrCorrupt] unless ps has exactly these names,
// in this order, all whole numbers.
func (ps Params) Uints(names []string, dst ...*uint64) error {
	if len(ps) != len(names) {
		return fmt.Errorf("umbel: %d parameters, want %d %v: %w", len(ps), len(names), names, ErrCorrupt)
	}
	for i, p := range ps {
		if p.Name != names[i] || p.Value.float {
			return fmt.Errorf("umbel: parameter %d is %q = %v, want a whole number %q: %w",
				i, clip(p.Name), p.Value, names[i], ErrCorrupt)
		}
		*dst[i] = p.Value.bits
	}
	return nil
}

// ParamDoc describes a parameter that a kind takes besides a goal; flags, forms
// and checks are made of it. A zero parameter, or one left out, is planned.
type ParamDoc struct {
	Name     string
	Doc      string  // one line, no capital, no final point
	Min, Max float64 // both allowed
	Float    bool    // whole numbers otherwise
}

// Check returns an error that wraps [ErrGoal] if ps names a parameter that isn't
// in docs, names one twice, or has a value out of its range. Zero is always
// allowed: it means that the parameter is to be planned.
func (ps Params) Check(kind string, docs []ParamDoc) error {
	for i, p := range ps {
		if _, twice := ps[:i].Get(p.Name); twice {
			return fmt.Errorf("umbel: parameter %q is given twice: %w", clip(p.Name), ErrGoal)
		}
		doc, err := findParam(kind, docs, p.Name)
		if err != nil {
			return err
		}
		if p.Value.float && !doc.Float {
			return fmt.Errorf("umbel: %s of kind %s is %v, want a whole number: %w", p.Name, kind, p.Value, ErrGoal)
		}
		if f := p.Value.Float(); f != 0 && !(f >= doc.Min && f <= doc.Max) {
			return fmt.Errorf("umbel: %s of kind %s is %v, want %v to %v: %w", p.Name, kind, p.Value, doc.Min, doc.Max, ErrGoal)
		}
	}
	return nil
}

func findParam(kind string, docs []ParamDoc, name string) (ParamDoc, error) {
	names := make([]string, len(docs))
	for i, doc := range docs {
		if doc.Name == name {
			return doc, nil
		}
		names[i] = doc.Name
	}
	if len(names) == 0 {
		return ParamDoc{}, fmt.Errorf("umbel: a filter of kind %s takes no parameters, got %q: %w", kind, clip(name), ErrGoal)
	}
	return ParamDoc{}, fmt.Errorf("umbel: a filter of kind %s has no parameter %q, it takes %s: %w", kind, clip(name), strings.Join(names, ", "), ErrGoal)
}

package umbel

import (
	"fmt"
	"strings"

	"github.com/umbel-filters/umbel/internal/number"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Goal is the requirements of a filter that is to be made: two of Keys, FPRate and Bytes.
// The third is zero and is planned. Each kind documents the pairs that it accepts.
type Goal struct {
	Keys   uint64  // distinct keys that the filter will contain
	FPRate float64 // false-positive rate with these keys, in (0, 1)
	Bytes  uint64  // memory for the cells
	Hasher Hasher  // zero value: XXH3-128 without a seed
}

// Check returns an error wrapping [ErrGoal] unless exactly two of Keys, FPRate and Bytes
// are given, the rate is in (0, 1), and the hasher is valid.
func (g Goal) Check() error {
	given := 0
	for _, b := range []bool{g.Keys != 0, g.FPRate != 0, g.Bytes != 0} {
		if b {
			given++
		}
	}
	if !(g.FPRate == 0 || g.FPRate > 0 && g.FPRate < 1) {
		return sentinel.Errorf(ErrGoal, "false-positive rate %v must lie between 0 and 1, both excluded", g.FPRate)
	}
	if given != 2 {
		return sentinel.Errorf(ErrGoal,
			"give two of keys, false-positive rate and bytes, each above 0; got %d keys, rate %v and %d bytes", g.Keys, g.FPRate, g.Bytes)
	}
	if err := g.Hasher.Check(); err != nil {
		return sentinel.Wrap(ErrGoal, err)
	}
	return nil
}

// Forecast describes a filter when it contains the keys of its goal.
type Forecast struct {
	Keys   uint64  // distinct keys
	FPRate float64 // expected false-positive rate with them
	Cells  uint64  // cells of all arrays
	Bytes  uint64  // memory of all arrays
	K      float64 // cells set per key, on average over classes
}

// Stats is what [Filter].Stats measures.
type Stats struct {
	Keys   float64 // estimated number of distinct keys; +Inf if all cells are set
	Low    float64 // Keys is between Low and High with probability 0.95; after Unfold see [Folder]
	High   float64
	Fill   float64 // fill ratio: nonzero cells / cells, in [0, 1]
	FPRate float64 // estimated false-positive rate at this fill ratio
	Cells  uint64
	K      float64 // cells set per key
	Bytes  uint64  // memory of all arrays
}

// MarshalJSON returns an object with the fields of s. A number that is infinite, as Keys of a full filter, is null, so that
// expvar and log/slog can print the stats of every filter.
func (s Stats) MarshalJSON() ([]byte, error) {
	n := number.JSON
	return fmt.Appendf(nil, `{"Keys":%s,"Low":%s,"High":%s,"Fill":%s,"FPRate":%s,"Cells":%d,"K":%s,"Bytes":%d}`,
		n(s.Keys), n(s.Low), n(s.High), n(s.Fill), n(s.FPRate), s.Cells, n(s.K), s.Bytes), nil
}

// Kind is a type of filter, for code that handles filters of any type. Its functions are
// safe for concurrent use.
type Kind struct {
	Name   string
	Doc    string // one line: what the kind is for, and its source
	Params []ParamDoc
	// Monotone reports that additions only set bits of arrays, that the bits depend on the
	// digest alone, and that the number and size of arrays change only when the filter
	// grows. Then a copy of the arrays that was made during additions equals the filter's
	// arrays, bit for bit, after the additions since the beginning of the copy are applied
	// to it. Numbers among the parameters may differ, and neither filter may grow meanwhile.
	// Filters of such a kind that grow have SetMaxBytes; at the limit, Add adds to the last
	// layer.
	Monotone bool
	// Plan returns what the filter that New makes will cost, without making it.
	Plan func(Goal, Params) (Forecast, error)
	// Shape returns the shape of the filter that New makes, in the kind's own type, for
	// example bloom.Shape, and the number of keys that it is planned for. Plan returns its
	// forecast for that number.
	Shape func(Goal, Params) (s Shape, keys uint64, err error)
	// New returns an empty filter. Params override what the goal determines; if they
	// determine the shape, the goal needs only a hasher. The error wraps ErrGoal.
	New func(Goal, Params) (Filter, error)
	// Open returns the filter with the given state and takes over its memory. It checks the
	// state completely. The error wraps ErrKind or ErrCorrupt.
	Open func(State) (Filter, error)
	// Locator returns the Locator of the filter with the given state, whose first array has no words (State.WithoutWords).
	// Has of the filter is true for a digest if none of the cells that Locate returns is zero. It checks the state as Open
	// does, except the cells. It is nil if the filters of the kind have no Locator, or if Has depends on more than these cells.
	Locator func(State) (Locator, error)
}

// Shape is the parameters that are fixed when a filter is made.
type Shape interface {
	// Forecast describes a filter of this shape that contains n keys.
	Forecast(n uint64) Forecast
}

// Check returns an error wrapping [ErrGoal] if ps contains a parameter that k does not
// have, one twice, or a value out of range.
func (k Kind) Check(ps Params) error { return ps.Check(k.Name, k.Params) }

// Kinds is a list of kinds. A program passes it to code that makes or opens filters; no
// other kinds are opened.
type Kinds []Kind

// reserved are the names of kinds that the library does not have, and what they are.
var reserved = map[string]string{
	"incremental": "a baseline of the papers, which no program opens",
	"part":        "a part of a filter, which umbel merge joins with the other parts",
}

// Find returns the kind with the given name. The error wraps [ErrKind].
func (ks Kinds) Find(name string) (Kind, error) {
	for _, k := range ks {
		if k.Name == name {
			return k, nil
		}
	}
	if is, ok := reserved[name]; ok {
		return Kind{}, sentinel.Errorf(ErrKind, "kind %s is %s", name, is)
	}
	names := make([]string, len(ks))
	for i, k := range ks {
		names[i] = k.Name
	}
	if len(ks) == 0 {
		return Kind{}, sentinel.Errorf(ErrKind, "kind %q, and the list of kinds is empty: pass filter.All", clip(name))
	}
	return Kind{}, sentinel.Errorf(ErrKind, "there is no kind %q, want one of %s", clip(name), strings.Join(names, ", "))
}

// Open returns the filter with state s, of any kind in the list. It takes over the memory
// of s. The error wraps [ErrKind] or [ErrCorrupt].
func (ks Kinds) Open(s State) (Filter, error) {
	k, err := ks.Find(s.Kind)
	if err != nil {
		return nil, err
	}
	return k.Open(s)
}

// ParamDoc describes a parameter that a kind takes in addition to a goal. Flags, forms and
// checks are made from it. A parameter that is zero or absent is planned.
type ParamDoc struct {
	Name     string
	Doc      string  // one line, without capital and final period
	Min, Max float64 // the range, both included
	Float    bool    // false: only integers
	Ticks    bool    // a time in ticks, which an interface may accept as a duration: see State.Tick
}

// Check returns an error wrapping [ErrGoal] if ps contains a parameter that is not in docs,
// one twice, or a value out of range. Zero is always in range.
func (ps Params) Check(kind string, docs []ParamDoc) error {
	for i, p := range ps {
		if _, twice := ps[:i].Get(p.Name); twice {
			return sentinel.Errorf(ErrGoal, "parameter %q is given twice", clip(p.Name))
		}
		doc, err := findParam(kind, docs, p.Name)
		if err != nil {
			return err
		}
		if p.Value.float && !doc.Float {
			return sentinel.Errorf(ErrGoal, "%s of kind %s is %v, want a whole number", p.Name, kind, p.Value)
		}
		if f := p.Value.Float(); f != 0 && !(f >= doc.Min && f <= doc.Max) {
			return sentinel.Errorf(ErrGoal, "%s of kind %s is %v, want %v to %v", p.Name, kind, p.Value, doc.Min, doc.Max)
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
		return ParamDoc{}, sentinel.Errorf(ErrGoal, "a filter of kind %s takes no parameters, got %q", kind, clip(name))
	}
	return ParamDoc{}, sentinel.Errorf(ErrGoal, "a filter of kind %s has no parameter %q, it takes %s", kind, clip(name), strings.Join(names, ", "))
}

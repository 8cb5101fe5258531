package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
)

// differencer is a filter from which another one's keys can be taken.
type differencer interface{ Difference(umbel.State) error }

// abilities are what only some kinds can do, in the words of umbel kinds.
var abilities = []struct {
	word string
	in   func(umbel.Filter) bool
}{
	{"merge", is[umbel.Merger]},
	{"fold", is[umbel.Folder]},
	{"clear", is[umbel.Clearer]},
	{"explain", is[umbel.Locator]},
	{"remove", is[umbel.Remover]},
	{"count", is[umbel.Counter]},
	{"subtract", is[differencer]},
	{"grow", is[umbel.Grower]},
	{"compact", is[compacter]},
	{"advance", is[umbel.Advancer]},
	{"dump", is[chunker]},
	{"seal", is[umbel.Sealer]},
}

func is[T any](f umbel.Filter) bool {
	_, ok := f.(T)
	return ok
}

// sample makes a small filter of a kind, to see what it can do.
func sample(v umbel.Variant) (umbel.Filter, error) {
	return v.New(sampleGoal, nil)
}

var sampleGoal = umbel.Goal{Keys: 100, FPRate: 0.01}

// samples makes small filters of a kind, a plain one and one with each of its parameters
// at its least, and calls f with them and the parameter's name. A kind may be able to do
// more with a parameter than without.
func samples(v umbel.Variant, f func(umbel.Filter, string)) error {
	plain, err := sample(v)
	if err != nil {
		return err
	}
	f(plain, "")
	for _, p := range v.Params {
		n := umbel.Uint(uint64(p.Min))
		if p.Float {
			n = umbel.Float(p.Min)
		}
		if with, err := v.New(sampleGoal, umbel.Params{{Name: p.Name, Value: n}}); err == nil {
			f(with, p.Name)
		}
	}
	return nil
}

// able returns the filter of a file as one that can do what the verb wants. The
// error otherwise says what the filter can't do and which kinds can, and wraps
// errors.ErrUnsupported.
func able[T any](file string, f umbel.Filter, cannot string) (T, error) {
	t, ok := f.(T)
	if ok {
		return t, nil
	}
	return t, fmt.Errorf("%s: a filter of kind %s %s; %s: %w", file, f.State().Kind, cannot, whoCan[T](), errors.ErrUnsupported)
}

// whoCan names the kinds that are a T.
func whoCan[T any]() string {
	var kinds []string
	for _, v := range filter.All {
		found := false
		_ = samples(v, func(f umbel.Filter, param string) { // what can't be made can't do it
			if found || !is[T](f) {
				return
			}
			found = true
			kinds = append(kinds, v.Kind+withParam(param))
		})
	}
	if len(kinds) == 0 {
		return "no kind does"
	}
	return "kinds that do: " + strings.Join(kinds, ", ")
}

// withParam says which parameter an ability takes.
func withParam(name string) string {
	if name == "" {
		return ""
	}
	return " with --" + name
}

// Package ability lists the operations that kinds support besides adding and querying keys.
package ability

import (
	"iter"

	"github.com/umbel-filters/umbel"
)

// Compacter is a filter that can join its layers while its rate is at most fpRate. All keys
// stay.
type Compacter interface{ Compact(fpRate float64) error }

// Differencer is a filter from which another filter can be subtracted.
type Differencer interface{ Difference(umbel.State) error }

// Chunker is a filter that can be dumped as chunks for BF.LOADCHUNK.
type Chunker interface {
	Chunks() (iter.Seq2[int64, []byte], error)
}

// abilities are the operations that only some kinds support, with the words of umbel kinds.
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
	{"subtract", is[Differencer]},
	{"grow", is[umbel.Grower]},
	{"compact", is[Compacter]},
	{"advance", is[umbel.Advancer]},
	{"dump", is[Chunker]},
	{"seal", is[umbel.Sealer]},
}

func is[T any](f umbel.Filter) bool {
	_, ok := f.(T)
	return ok
}

// Ability is an operation that a kind supports, perhaps only with a parameter.
type Ability struct {
	Word  string // "merge"
	Param string // name of the necessary parameter, or ""
}

// Of returns the abilities of a kind. It makes small filters to find out.
func Of(v umbel.Kind) ([]Ability, error) {
	list := []Ability{}
	found := map[string]bool{}
	err := samples(v, func(f umbel.Filter, param string) {
		for _, a := range abilities {
			if !found[a.word] && a.in(f) {
				found[a.word] = true
				list = append(list, Ability{a.word, param})
			}
		}
	})
	return list, err
}

// In returns the words of the abilities of one filter.
func In(f umbel.Filter) []string {
	words := []string{}
	for _, a := range abilities {
		if a.in(f) {
			words = append(words, a.word)
		}
	}
	return words
}

// Taker is a kind that supports an operation, perhaps only with a parameter.
type Taker struct{ Kind, Param string }

// Who returns the kinds whose filters are a T.
func Who[T any](kinds umbel.Kinds) []Taker {
	var takers []Taker
	for _, v := range kinds {
		found := false
		_ = samples(v, func(f umbel.Filter, param string) { // a kind that can't be made supports nothing
			if !found && is[T](f) {
				found = true
				takers = append(takers, Taker{v.Name, param})
			}
		})
	}
	return takers
}

var sampleGoal = umbel.Goal{Keys: 100, FPRate: 0.01}

// samples calls f with small filters of a kind: one without parameters, and one for each
// parameter with its minimum, because a kind may support more with a parameter.
func samples(v umbel.Kind, f func(umbel.Filter, string)) error {
	plain, err := v.New(sampleGoal, nil)
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

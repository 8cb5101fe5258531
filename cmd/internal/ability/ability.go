// Package ability tells what kinds of filter can do besides taking and finding keys.
package ability

import (
	"iter"

	"github.com/umbel-filters/umbel"
)

// Compacter is a filter that can join what it is made of, as far as its rate stays at
// most fpRate. All keys stay.
type Compacter interface{ Compact(fpRate float64) error }

// Differencer is a filter from which another one's keys can be taken.
type Differencer interface{ Difference(umbel.State) error }

// Chunker is a filter that Redis loads.
type Chunker interface {
	Chunks() (iter.Seq2[int64, []byte], error)
}

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

// Ability is something that a kind can do, perhaps only where it is given a parameter.
type Ability struct {
	Word  string // "merge"
	Param string // "" or the parameter's name
}

// Of makes small filters of a kind to see what it can do.
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

// In returns what one filter can do, in the same words.
func In(f umbel.Filter) []string {
	words := []string{}
	for _, a := range abilities {
		if a.in(f) {
			words = append(words, a.word)
		}
	}
	return words
}

// Taker is a kind that can do something, perhaps only where it is given a parameter.
type Taker struct{ Kind, Param string }

// Who returns the kinds whose filters are a T.
func Who[T any](kinds umbel.Kinds) []Taker {
	var takers []Taker
	for _, v := range kinds {
		found := false
		_ = samples(v, func(f umbel.Filter, param string) { // what can't be made can't do it
			if !found && is[T](f) {
				found = true
				takers = append(takers, Taker{v.Name, param})
			}
		})
	}
	return takers
}

var sampleGoal = umbel.Goal{Keys: 100, FPRate: 0.01}

// samples makes small filters of a kind, a plain one and one with each of its parameters
// at its least, and calls f with them and the parameter's name. A kind may be able to do
// more with a parameter than without.
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

package main

import (
	"errors"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/foreign/imported"
	"github.com/umbel-filters/umbel/filter/foreign/nixbloom"
	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
	"github.com/umbel-filters/umbel/filter/foreign/squid"
	"github.com/umbel-filters/umbel/filter/union"
	"github.com/umbel-filters/umbel/filter/weighted"
	"github.com/umbel-filters/umbel/filter/window"
)

// form is another form of a kind's filters: with other cells, with a table, or after keys
// expired. A kind with one form only is not listed.
type form struct {
	kind, name, comment string
	make                func(umbel.Kind, umbel.Hasher) (umbel.Filter, error)
	keys                int  // added to it
	forgets             bool // the first of them, with what is added later
}

var forms = []form{
	{kind: "counting", name: "width-16", comment: "counters of 16 bits", make: sizedWith("width", 16), keys: 20},
	{kind: "weighted", name: "digests", comment: "three classes, a table of digests", make: weightedBy(hot), keys: 20},
	{kind: "weighted", name: "prefixes", comment: "three classes, a table of prefixes", make: weightedBy(prefixes), keys: 20},
	{kind: "weighted-counting", name: "digests", comment: "three classes, a table of digests", make: weightedCounting(hot), keys: 20},
	{kind: "weighted-counting", name: "prefixes", comment: "three classes, a table of prefixes", make: weightedCounting(prefixes), keys: 20},
	{kind: "scalable", name: "layers", comment: "layers of several sizes", make: plannedWith("growth", 2), keys: 250},
	{kind: "dynamic", name: "counters", comment: "parts of counters", make: dynamicCounters, keys: 20},
	{kind: "folding", name: "counters", comment: "a base of counters", make: plannedWith("width", 4), keys: 6},
	{kind: "folding", name: "folded", comment: "a face smaller than its base", make: plannedWith("oversize", 8), keys: 4},
	{kind: "folding", name: "words", comment: "a face smaller than its base, in groups of a word", make: foldingWords, keys: 4},
	{kind: "window", name: "later", comment: "the time goes on with every key", make: windowOfTicks, keys: 20, forgets: true},
	{kind: "window", name: "by-keys", comment: "no time, keys alone", make: plannedWith("by-keys", 1), keys: 20, forgets: true},
	{kind: "ribbon", name: "shards", comment: "two shards of several blocks", make: ribbonOf(1600, smallRate), keys: 1600},
	{kind: "ribbon", name: "columns", comment: "blocks of two columns and of three", make: ribbonOf(300, 0.17), keys: 300},
	{kind: "ribbon", name: "unsealed", comment: "a list and no solution", make: ribbonOf(small.keys, smallRate), keys: late - 1},
	{kind: "union", name: "kinds", comment: "a part of every kind that may be one", make: unionOfKinds, keys: 20},
	{kind: "union", name: "digests", comment: "parts of kind squid", make: unionOfDigests, keys: 20},
	{kind: "union", name: "nixbloom", comment: "a part of kind nixbloom", make: unionOfNixbloom, keys: 20},
	{kind: "union", name: "imported", comment: "a part of kind imported", make: unionOfImported, keys: 20},
	{kind: "imported", name: "guava32", comment: "form guava32", make: sizedWith("form", 2), keys: 20},
	{kind: "imported", name: "spark1", comment: "form spark1", make: sizedWith("form", 3), keys: 20},
	{kind: "imported", name: "spark2", comment: "form spark2", make: sizedWith("form", 4), keys: 20},
	{kind: "imported", name: "blobloom", comment: "form blobloom", make: sizedWith("form", 5), keys: 20},
	{kind: "redisbloom", name: "last-layer", comment: "the last two layers that a filter can have", make: lastLayers, keys: 6},
	{kind: "redisbloom", name: "nonscaling", comment: "a layer that is full", make: plannedWith("nonscaling", 1), keys: 9},
}

// sizedWith makes filters of the small size with one more parameter.
func sizedWith(name string, value uint64) func(umbel.Kind, umbel.Hasher) (umbel.Filter, error) {
	z := small
	z.params = append(slices.Clone(z.params), umbel.Param{Name: name, Value: umbel.Uint(value)})
	return z.make
}

// ribbonOf makes filters for a number of keys and a rate.
func ribbonOf(keys uint64, rate float64) func(umbel.Kind, umbel.Hasher) (umbel.Filter, error) {
	return func(v umbel.Kind, h umbel.Hasher) (umbel.Filter, error) {
		return v.New(umbel.Goal{Keys: keys, FPRate: rate, Hasher: h}, nil)
	}
}

// plannedWith makes filters planned for few keys with one parameter.
func plannedWith(name string, value uint64) func(umbel.Kind, umbel.Hasher) (umbel.Filter, error) {
	return func(v umbel.Kind, h umbel.Hasher) (umbel.Filter, error) {
		g := umbel.Goal{Keys: small.keys, FPRate: smallRate, Hasher: h}
		return v.New(g, umbel.Params{{Name: name, Value: umbel.Uint(value)}})
	}
}

// windowOfTicks makes windows of six generations of two ticks.
func windowOfTicks(_ umbel.Kind, h umbel.Hasher) (umbel.Filter, error) {
	return window.NewShape(window.Shape{Slice: 9, K: 7, L: 6, Limit: 1, Ticks: 2, Hasher: h})
}

// dynamicCounters makes dynamic filters of the small size with counters.
func dynamicCounters(v umbel.Kind, h umbel.Hasher) (umbel.Filter, error) {
	return v.Open(dynamicSmall(h, 4))
}

// unionOfKinds makes a union with a member of every kind that could be one when its vector was written. Kinds
// that were added since have unions of their own.
func unionOfKinds(_ umbel.Kind, h umbel.Hasher) (umbel.Filter, error) {
	kinds := slices.DeleteFunc(slices.Clone(filter.All), func(v umbel.Kind) bool {
		return slices.Contains([]string{weighted.Name, weighted.CountingKind.Name, union.Name, squid.Name, nixbloom.Name, imported.Name}, v.Name)
	})
	return unionOf(kinds, h)
}

// unionOfNixbloom makes a union with one member, of kind nixbloom.
func unionOfNixbloom(_ umbel.Kind, h umbel.Hasher) (umbel.Filter, error) {
	return unionOf(umbel.Kinds{nixbloom.Kind}, h)
}

// unionOfImported makes a union with one member, of kind imported.
func unionOfImported(_ umbel.Kind, h umbel.Hasher) (umbel.Filter, error) {
	return unionOf(umbel.Kinds{imported.Kind}, h)
}

// unionOfDigests makes a union of two filters of kind squid.
func unionOfDigests(_ umbel.Kind, h umbel.Hasher) (umbel.Filter, error) {
	return unionOf(umbel.Kinds{squid.Kind, squid.Kind}, h)
}

// unionOf makes a union with a member of each of the kinds. Each has a key, and the first has later ones.
func unionOf(kinds umbel.Kinds, h umbel.Hasher) (umbel.Filter, error) {
	var states []umbel.State
	for _, v := range kinds {
		f, err := small.make(v, h)
		if err != nil {
			return nil, err
		}
		f.Add(digestOf(h, keyFor(h, len(states))))
		states = append(states, f.State())
	}
	return union.Of(states...)
}

// lastLayers makes redisbloom filters whose first layer has an error rate of 2^-1073, and the second 2^-1074.
func lastLayers(_ umbel.Kind, h umbel.Hasher) (umbel.Filter, error) {
	return redisbloom.ReserveHashed(redisbloom.Options{ErrorRate: 0x1p-1072, Capacity: 4, Expansion: 1}, h)
}

// foldingWords makes a small folding filter with groups of a word, which plans use for large
// filters only.
func foldingWords(v umbel.Kind, h umbel.Hasher) (umbel.Filter, error) {
	f, err := plannedWith("oversize", 8)(v, h)
	if err != nil {
		return nil, err
	}
	s := f.State()
	if !param("fold", 15)(&s) || !param("group", 6)(&s.Parts[0]) {
		return nil, errors.New("no fold, or no group")
	}
	s.Parts[0].Arrays[0] = emptyCells(15*64, 1)
	return v.Open(s)
}

// weightedBy makes weighted filters with three classes and a table that determines the class of
// a key.
func weightedBy(table func(*weighted.Shape)) func(umbel.Kind, umbel.Hasher) (umbel.Filter, error) {
	return func(_ umbel.Kind, h umbel.Hasher) (umbel.Filter, error) {
		return weighted.NewShape(threeClasses(h, table))
	}
}

// weightedCounting is weightedBy with counters of 8 bits.
func weightedCounting(table func(*weighted.Shape)) func(umbel.Kind, umbel.Hasher) (umbel.Filter, error) {
	return func(_ umbel.Kind, h umbel.Hasher) (umbel.Filter, error) {
		s := threeClasses(h, table)
		s.Width = 8
		return weighted.NewCountingShape(s)
	}
}

func threeClasses(h umbel.Hasher, table func(*weighted.Shape)) weighted.Shape {
	s := weighted.Shape{M: 960, Group: 6, Hasher: h, Classes: []weighted.Class{
		{K: 3, Members: 0.5, Queries: 0.25}, {K: 9, Members: 0.25, Queries: 0.5}, {K: 1, Members: 0.25, Queries: 0.25},
	}}
	table(&s)
	return s
}

// hot assigns every third key to class 1 or 2, in turn.
func hot(s *weighted.Shape) {
	for i := 0; i < 40; i += 3 {
		s.Hot = append(s.Hot, weighted.Hot{Digest: digestOf(s.Hasher, keyFor(s.Hasher, i)), Class: 1 + i%2})
	}
}

// prefixes assigns prefixes to classes. Some prefixes begin others, and one is of class 0.
func prefixes(s *weighted.Shape) {
	s.Prefixes = []weighted.Prefix{{Prefix: "key 1", Class: 1}, {Prefix: "key 13", Class: 2}, {Prefix: "key 15", Class: 0},
		{Prefix: "key 3", Class: 2}, {Prefix: "key 30", Class: 1}}
}

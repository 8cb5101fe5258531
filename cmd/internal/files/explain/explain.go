// Package explain derives the numbers of a plan step by step, for umbel plan --explain.
package explain

import (
	"fmt"
	"regexp"
	"sync"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/blocked"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/filter/dynamic"
	"github.com/umbel-filters/umbel/filter/folding"
	"github.com/umbel-filters/umbel/filter/foreign/imported"
	"github.com/umbel-filters/umbel/filter/foreign/nixbloom"
	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
	"github.com/umbel-filters/umbel/filter/foreign/splitblock"
	"github.com/umbel-filters/umbel/filter/foreign/squid"
	"github.com/umbel-filters/umbel/filter/partitioned"
	"github.com/umbel-filters/umbel/filter/ribbon"
	"github.com/umbel-filters/umbel/filter/scalable"
	"github.com/umbel-filters/umbel/filter/sparse"
	"github.com/umbel-filters/umbel/filter/union"
	"github.com/umbel-filters/umbel/filter/weighted"
	"github.com/umbel-filters/umbel/filter/window"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Formula is one step of a derivation.
type Formula struct {
	What    string `json:"what"`    // the result, for example "bits per key"
	General string `json:"general"` // in letters: "m / n"
	Numbers string `json:"numbers"` // with numbers for the letters: "9623040 / 1000000"
	Value   string `json:"value"`   // with its unit: "9.623 bits"
	Source  string `json:"source,omitempty"`
}

// kinds contains the derivation of each kind. It is for the kind's shape and n keys.
var kinds = map[string]func(s umbel.Shape, n uint64) []Formula{
	blocked.Name:               of(blockedSteps),
	bloom.Name:                 of(bloomSteps),
	counting.Name:              of(countingSteps),
	dynamic.Name:               of(dynamicSteps),
	folding.Name:               of(foldingSteps),
	imported.Name:              of(importedSteps),
	nixbloom.Name:              of(nixbloomSteps),
	partitioned.Name:           of(partitionedSteps),
	redisbloom.Name:            of(redisbloomSteps),
	ribbon.Name:                of(ribbonSteps),
	scalable.Name:              of(scalableSteps),
	sparse.Name:                of(sparseSteps),
	splitblock.Name:            of(splitblockSteps),
	squid.Name:                 of(squidSteps),
	union.Name:                 of(unionSteps),
	weighted.Name:              of(weightedSteps),
	weighted.CountingKind.Name: of(weightedSteps),
	window.Name:                of(windowSteps),
}

func of[S umbel.Shape](steps func(*derivation, S, uint64)) func(umbel.Shape, uint64) []Formula {
	return func(s umbel.Shape, n uint64) []Formula {
		d := derivation{letters: map[string]string{}}
		d.let("n", n)
		steps(&d, s.(S), n)
		return d.formulas
	}
}

// Plan returns the derivation of what kind k plans for a goal. It returns the error of
// k.Plan, or one wrapping [umbel.ErrKind] if this package doesn't explain the kind.
func Plan(k umbel.Kind, g umbel.Goal, ps umbel.Params) ([]Formula, error) {
	steps := kinds[k.Name]
	if steps == nil {
		return nil, sentinel.Errorf(umbel.ErrKind, "kind %q has no explanation", k.Name)
	}
	s, n, err := k.Shape(g, ps)
	if err != nil {
		return nil, err
	}
	return steps(s, n), nil
}

// derivation collects formulas. letters contains the text of each letter's number.
type derivation struct {
	letters  map[string]string
	formulas []Formula
}

// let sets the number of a letter; a rate keeps nine digits.
func (d *derivation) let(letter string, number any) {
	if f, ok := number.(float64); ok {
		number = fmt.Sprintf("%.9g", f)
	}
	d.letters[letter] = fmt.Sprint(number)
}

// word is compiled at the first formula, since each run of the program would wait for it.
var word = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[\p{L}_][\p{L}\p{N}_]*`) })

// add appends a formula, and replaces each letter by its number.
func (d *derivation) add(what, general, value, source string) {
	numbers := word().ReplaceAllStringFunc(general, func(w string) string {
		if number, ok := d.letters[w]; ok {
			return number
		}
		return w
	})
	d.formulas = append(d.formulas, Formula{what, general, numbers, value, source})
}

func (d *derivation) addf(what, general, source, format string, args ...any) {
	d.add(what, general, fmt.Sprintf(format, args...), source)
}

package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/ability"
	"github.com/umbel-filters/umbel/filter"
)

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
	for _, t := range ability.Who[T](filter.All) {
		kinds = append(kinds, t.Kind+withParam(t.Param))
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

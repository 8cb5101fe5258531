package ability

import (
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
)

// What a filter made without parameters can do is what its kind can without them.
func TestIn(t *testing.T) {
	for _, v := range filter.All {
		f, err := v.New(umbel.Goal{Keys: 100, FPRate: 0.01}, nil)
		if err != nil {
			t.Fatal(err)
		}
		list, err := Of(v)
		if err != nil {
			t.Fatal(err)
		}
		in := In(f)
		for _, a := range list {
			if got, want := slices.Contains(in, a.Word), a.Param == ""; got != want {
				t.Errorf("%s: %s is in it: %v, want %v", v.Name, a.Word, got, want)
			}
		}
	}
}

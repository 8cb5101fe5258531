package metrics

import (
	"context"
	"runtime"
	"testing"
	"time"
	"weak"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/filter"
)

// After measuring a large filter a survey is idle for minutes. A filter that is deleted then is freed,
// and so is one that it would have measured next.
func TestIdleSurveyKeepsNoFilter(t *testing.T) {
	e := engine.New(engine.Options{Kinds: filter.All})
	var filters []weak.Pointer[engine.Filter]
	for _, name := range []string{"a", "b", "c"} {
		f, _, err := e.Create(name, "bloom", umbel.Goal{Bytes: 64 << 20, FPRate: .01}, nil)
		if err != nil {
			t.Fatal(err)
		}
		filters = append(filters, weak.Make(f))
	}
	idled := false
	s := &survey{o: Options{Engine: e, Filters: 10}, idle: func(context.Context, time.Duration) bool {
		idled = true
		if _, err := e.Flush(); err != nil {
			t.Error(err)
		}
		for i, f := range filters {
			for range 100 {
				if runtime.GC(); f.Value() == nil {
					break
				}
			}
			if f.Value() != nil {
				t.Errorf("filter %d is not freed", i)
			}
		}
		return false
	}}
	if _, ok := s.walk(t.Context()); ok || !idled {
		t.Errorf("walk ended %v, was idle %v", ok, idled)
	}
}

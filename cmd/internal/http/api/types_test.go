package api

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/umbel-filters/umbel"
)

// A rate that no filter can have is refused, also one that is 0 as a float64; null is none.
func TestRate(t *testing.T) {
	for text, want := range map[string]float64{"0.01": 0.01, "1e-30": 1e-30, "1E-3": 1e-3, "0.999": 0.999, "null": 0} {
		var spec FilterSpec
		if err := json.Unmarshal([]byte(`{"fpRate": `+text+`}`), &spec); err != nil || float64(spec.FPRate) != want || spec.FPRate.Check() != nil {
			t.Errorf("%s is %v, %v, want %v", text, spec.FPRate, err, want)
		}
		if b, err := json.Marshal(spec); err != nil || want == 0 != (string(b) == "{}") {
			t.Errorf("%s is written as %s, %v", text, b, err)
		}
	}
	for _, text := range []string{"0", "-0", "0.0", "2e-324", "5e-324", "9e-31", "1", "1.5", "-0.1"} {
		var spec FilterSpec
		if err := json.Unmarshal([]byte(`{"fpRate": `+text+`}`), &spec); err != nil || !errors.Is(spec.FPRate.Check(), umbel.ErrGoal) {
			t.Errorf("%s: %v, %v, want an error that wraps ErrGoal", text, err, spec.FPRate.Check())
		}
	}
	for _, text := range []string{"1e400", `"x"`, `"0.01"`, "true", "[]", "{}"} {
		var spec FilterSpec
		if err := json.Unmarshal([]byte(`{"fpRate": `+text+`}`), &spec); err == nil {
			t.Errorf("%s is read as %v", text, spec.FPRate)
		}
	}
}

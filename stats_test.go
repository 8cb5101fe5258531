package umbel_test

import (
	"encoding/json"
	"expvar"
	"math"
	"testing"

	"github.com/umbel-filters/umbel"
)

// TestStatsJSON: all stats have JSON, also through expvar, and finite ones survive it.
func TestStatsJSON(t *testing.T) {
	full := umbel.Stats{Keys: math.Inf(1), Low: 59.5, High: math.Inf(1), Fill: 1, FPRate: 1, Cells: 64, K: 3, Bytes: 8}
	large := umbel.Stats{Keys: 1e21, Low: 1e-9, High: math.MaxFloat64, Cells: math.MaxUint64, Bytes: math.MaxUint64 - 1}
	for _, s := range []umbel.Stats{{}, full, {Fill: math.NaN(), Keys: math.Inf(-1)}, large} {
		text := expvar.Func(func() any { return s }).String()
		var got umbel.Stats
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatalf("%q of %+v: %v", text, s, err)
		}
		if !math.IsInf(s.Keys, 0) && got != s {
			t.Errorf("%+v after JSON, want %+v", got, s)
		}
	}
	var null struct{ Keys, Low *float64 }
	if b, err := json.Marshal(full); err != nil || json.Unmarshal(b, &null) != nil || null.Keys != nil || *null.Low != full.Low {
		t.Errorf("JSON of %+v is %s, %v, want null for infinite numbers only", full, b, err)
	}
}

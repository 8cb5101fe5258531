package substituter

import (
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/testing/statustest"
)

// Text, JSON and metrics of a substituter state the same numbers.
func TestStatusForms(t *testing.T) {
	var st Status
	numbers := statustest.Fill(&st)
	u := UpstreamStatus{URL: "http://a", Skipped: 7_001, Requested: 7_003, Found: 7_005, FalsePositives: 7_007, Failures: 7_009}
	st.Upstreams, st.NARBytes = []UpstreamStatus{u}, 512
	statustest.Same(t, st, append(numbers[:len(numbers)-1], 512, 7_001, 7_003, 7_005, 7_007, 7_009))
}

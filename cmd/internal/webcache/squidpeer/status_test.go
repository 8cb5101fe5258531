package squidpeer

import (
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/testing/statustest"
)

// Text, JSON and metrics of a relay state the same numbers.
func TestStatusForms(t *testing.T) {
	statustest.Same(t, Report{{Name: "a", Keys: 7_001, RelayedBytes: 512}, {Name: "b", Keys: 7_003}}, []uint64{7_001, 7_003, 512})
}

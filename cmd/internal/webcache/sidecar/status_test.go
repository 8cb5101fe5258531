package sidecar

import (
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/testing/statustest"
	"github.com/umbel-filters/umbel/siblings"
)

// Text, JSON and metrics of a sidecar state the same numbers.
func TestStatusForms(t *testing.T) {
	r := Report{siblings.Status{Peers: []siblings.PeerStatus{{Name: "south", Hits: 7_001, Absent: 7_003, Refused: 7_005, Failed: 7_007}}}}
	statustest.Fill(&r.Status)
	statustest.Same(t, r, []uint64{r.Requests, r.Hits, r.Origin, r.Hops, r.Evicted, r.Errors, r.Forbidden, 7_001, 7_003, 7_005, 7_007})
}

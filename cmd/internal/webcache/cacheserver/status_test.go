package cacheserver

import (
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/testing/statustest"
	"github.com/umbel-filters/umbel/siblings"
)

// Text, JSON and metrics of a cache state the same numbers, also those of siblings.
func TestStatusForms(t *testing.T) {
	r := Report{Siblings: &siblings.Status{Hits: 7_001, Held: 9_001}}
	statustest.Same(t, r, append(statustest.Fill(&r), 7_001, 9_001))
}

package mediumtest_test

import (
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog"
	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog/mediumtest"
)

func TestMemory(t *testing.T) {
	mediumtest.Run(t, func(*testing.T) sharedlog.Medium { return new(mediumtest.Memory) })
}

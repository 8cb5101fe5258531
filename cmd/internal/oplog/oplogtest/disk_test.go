package oplogtest_test

import (
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/oplog"
	"github.com/umbel-filters/umbel/cmd/internal/oplog/oplogtest"
)

func TestDisk(t *testing.T) {
	oplogtest.Run(t, func(*testing.T) func(*testing.T) oplog.Medium {
		d := oplogtest.NewDisk()
		return func(*testing.T) oplog.Medium { return d.Bare() }
	})
}

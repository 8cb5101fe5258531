package oplog_test

import (
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/oplog"
	"github.com/umbel-filters/umbel/cmd/internal/oplog/oplogtest"
)

func TestJetStream(t *testing.T) {
	oplogtest.Run(t, func(t *testing.T) func(*testing.T) oplog.Medium {
		dir := t.TempDir()
		return func(t *testing.T) oplog.Medium {
			m, err := oplog.OpenMedium(t.Context(), dir, oplog.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
	})
}

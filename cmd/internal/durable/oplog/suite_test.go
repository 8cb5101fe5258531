package oplog_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/umbel-filters/umbel/cmd/internal/durable/oplog/oplogtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSuite(t *testing.T) { oplogtest.Run(t) }

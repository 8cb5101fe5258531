//go:build unix

package logdir_test

import (
	"os"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/group/logdir"
	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog/mediumtest"
)

func TestMain(m *testing.M) {
	mediumtest.Main(logdir.Open)
	os.Exit(m.Run())
}

// Three processes share a log in a directory, and are killed and stopped. UMBEL_LONG=1: for two minutes.
func TestKill(t *testing.T) {
	d := 12 * time.Second
	switch {
	case os.Getenv("UMBEL_LONG") != "":
		d = 2 * time.Minute
	case testing.Short():
		d = 4 * time.Second
	}
	mediumtest.Kill(t, logdir.Open, "file://"+t.TempDir(), d, nil)
}

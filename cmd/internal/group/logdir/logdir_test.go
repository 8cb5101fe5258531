package logdir_test

import (
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/group/logdir"
	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog"
	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog/mediumtest"
)

func TestMedium(t *testing.T) {
	mediumtest.Run(t, func(t *testing.T) sharedlog.Medium {
		m, err := logdir.New(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		return m
	})
}

package node

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/oplog"
)

// The directory of an older program is refused with the commands that migrate it, and not changed.
func TestOlderDirectory(t *testing.T) {
	c := testConfig(t)
	if err := os.MkdirAll(filepath.Join(logDir(c.Data), "jetstream", "streams"), 0o700); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	for _, acceptLoss := range []bool{false, true} {
		c.AcceptLoss = acceptLoss
		_, err := Start(t.Context(), c, log, nil)
		_, _, checked := Check(t.Context(), c, log)
		for _, err := range []error{err, checked} {
			if !errors.Is(err, oplog.ErrVersion) || !strings.Contains(err.Error(), "umbel backup") || !strings.Contains(err.Error(), "umbel restore") {
				t.Errorf("error %v, want one with the commands that migrate", err)
			}
		}
	}
	if entries, err := os.ReadDir(logDir(c.Data)); err != nil || len(entries) != 1 {
		t.Errorf("the directory contains %v, %v", entries, err)
	}
}

package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// A warning of a log is a sentence, printed once while it repeats.
func TestWarningLog(t *testing.T) {
	var b strings.Builder
	cmd := &cobra.Command{}
	cmd.SetErr(&b)
	log := warningLog(cmd)
	cause := errors.New("share/dir: no head")
	log.Info("a version was fetched")
	for delay := range 3 {
		log.Warn("update failed", "delay", delay, "error", cause)
	}
	log.With("class", 4).Warn("every first version is longer than the limit", "bytes", 10, "limit", 5)
	const want = "umbel: warning: update failed: no head; it is tried again\n" +
		"umbel: warning: every first version is longer than the limit (class 4, bytes 10, limit 5)\n"
	if got := b.String(); got != want {
		t.Errorf("printed:\n%s\nwant:\n%s", got, want)
	}
}

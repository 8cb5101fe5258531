package cli

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/cobra"
)

// Warnings that are omitted are counted, and a message that the fault is over makes the next one due.
func TestWarningLogRepeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b strings.Builder
		cmd := &cobra.Command{Use: "umbel"}
		cmd.SetErr(&b)
		log := WarningLog(cmd)
		for range 61 {
			log.Warn("update failed")
			time.Sleep(time.Second)
		}
		log.With("lasted", time.Minute, "omitted", uint64(3)).Info("updates succeed again")
		log.Warn("update failed")
		const want = "umbel: warning: update failed\n" +
			"umbel: warning: update failed (omitted 54)\n" +
			"umbel: updates succeed again (lasted 1m0s, omitted 3)\n" +
			"umbel: warning: update failed\n"
		if got := b.String(); got != want {
			t.Errorf("printed:\n%s\nwant:\n%s", got, want)
		}
	})
}

// Each line of a verb that runs for long has the time.
func TestStampWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b strings.Builder
		cmd := &cobra.Command{Use: "umbel"}
		cmd.SetErr(stampWriter{&b})
		Warn(cmd, "one\ntwo")
		const want = "2000-01-01T00:00:00Z umbel: warning: one\n2000-01-01T00:00:00Z two\n"
		if got := b.String(); got != want {
			t.Errorf("printed %q, want %q", got, want)
		}
	})
}

// A warning of a log is a sentence, printed once while it repeats.
func TestWarningLog(t *testing.T) {
	var b strings.Builder
	cmd := &cobra.Command{Use: "umbel"}
	cmd.SetErr(&b)
	log := WarningLog(cmd)
	cause := errors.New("share/dir: no head")
	log.Debug("a version was fetched")
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

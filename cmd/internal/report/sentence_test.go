package report_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/report"
	"github.com/umbel-filters/umbel/internal/event"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// everything reports a record of each form.
func everything(log *slog.Logger) {
	log.Debug("a version was fetched", event.Ready)
	log.With("class", 4).Warn("update failed", event.SubscriptionFailed, "error", errors.Join(errors.New("no head"), fs.ErrNotExist), "delay", time.Second, "omitted", 3)
	log.Info("updates succeed again", event.SubscriptionRecovered, "lasted", time.Minute, "expires", time.Unix(0, 0))
	log.Log(context.Background(), report.LevelSubject, "words.umb: one <key>\nand more", event.Message)
	report.Fail(log, "words.umb is gone", 2)
}

// A record is one sentence, or one object.
func TestSentences(t *testing.T) {
	for _, c := range []struct {
		sentences *report.Sentences
		want      string
	}{
		{&report.Sentences{}, "umbel: warning: update failed: no head; file does not exist (class 4, omitted 3); it is tried again\n" +
			"umbel: updates succeed again (lasted 1m0s, expires 1970-01-01T00:00:00Z)\nwords.umb: one <key>\nand more\numbel: words.umb is gone\n"},
		{&report.Sentences{Level: slog.LevelWarn, Times: true}, "2000-01-01T00:00:00Z umbel: warning: update failed: no head; file does not exist (class 4, omitted 3); it is tried again\n" +
			"2000-01-01T00:00:00Z umbel: words.umb is gone\n"},
		{&report.Sentences{JSON: true}, `{"warning":"update failed: no head; file does not exist (class 4, omitted 3); it is tried again"}` + "\n" +
			`{"note":"updates succeed again (lasted 1m0s, expires 1970-01-01T00:00:00Z)"}` + "\n" + `{"note":"words.umb: one <key>\nand more"}` + "\n" +
			`{"error":"words.umb is gone","exit":2}` + "\n"},
		{&report.Sentences{Level: slog.LevelError, Paint: func(_ slog.Level, word string) string { return "<" + word + ">" }}, "<umbel:> words.umb is gone\n"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var out strings.Builder
			c.sentences.To, c.sentences.Program = &out, "umbel"
			everything(slog.New(c.sentences))
			if got := out.String(); got != c.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}

// However an error is wrapped, its text has the words of each wrapper once, in order, and its class adds none.
func TestTextOfWrappedErrors(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	class := errors.New("class for programs")
	for range 1000 {
		err, want := errors.New("the cause"), "the cause"
		for i := range rng.IntN(6) {
			switch word := fmt.Sprintf("part %d", i); rng.IntN(4) {
			case 0:
				err, want = fmt.Errorf("%s: %w", word, err), word+": "+want
			case 1:
				err, want = sentinel.Errorf(class, "%s: %w", word, err), word+": "+want
			case 2:
				err = sentinel.Wrap(class, err)
			case 3:
				err, want = errors.Join(err, errors.New(word)), want+"; "+word
			}
		}
		if got := report.Text(err); got != want {
			t.Fatalf("%q, want %q", got, want)
		}
	}
}

// The text of an error of a full disk states what to do, also if it is wrapped.
func TestTextOfFullDisk(t *testing.T) {
	for path, remedy := range map[string]string{
		"public/head": "; free space on the disk of public", "words.umb": "; free space on the disk of the current directory", "/dev/stdout": "",
	} {
		err := fmt.Errorf("a copy: %w", &fs.PathError{Op: "write", Path: path, Err: syscall.ENOSPC})
		if got, want := report.Text(err), "a copy: write "+path+": no space left on device"+remedy; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

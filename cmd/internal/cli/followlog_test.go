package cli

import (
	"bytes"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/report/eventlog"
)

// The guide describes all events of verbs with --follow.
func TestFollowEvents(t *testing.T) {
	b, err := os.ReadFile("../../../docs/share.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(b), "\n### The log of `--follow`\n")
	section, _, _ = strings.Cut(section, "\n### ")
	for message, event := range followEvents {
		if !strings.Contains(section, "`"+event+"`") {
			t.Errorf("docs/share.md does not describe the event %s of %q", event, message)
		}
	}
}

// What a verb prints on standard error is logged line by line, with the level that its first word has.
func TestRecordWriter(t *testing.T) {
	var out bytes.Buffer
	h := slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})
	w := recordWriter{slog.New(eventlog.Handler{Handler: h, Events: followEvents})}
	if n, err := w.Write([]byte("umbel: warning: a\numbel: b\n")); n != 27 || err != nil {
		t.Errorf("wrote %d bytes, %v, want 27", n, err)
	}
	const want = "level=WARN msg=\"warning about the command\" what=a event=warning\nlevel=INFO msg=\"message of the command\" what=b event=message\n"
	if got := out.String(); got != want {
		t.Errorf("logged %q, want %q", got, want)
	}
}

package cli

import (
	"bytes"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/node"
	"github.com/umbel-filters/umbel/cmd/internal/report/eventlog"
	"github.com/umbel-filters/umbel/cmd/internal/report/message"
	"github.com/umbel-filters/umbel/internal/faultlog"
)

// followEvents are the events of umbel publish and umbel subscribe with --follow, besides those of package share, which
// are the same as in the log of a node. docs/share.md describes them.
var followEvents = eventlog.Events{
	"serving":                   "ready",
	"filter is overfull":        "filter-overfull",
	"version has expired":       "subscription-stale",
	"version is valid again":    "subscription-exact",
	"file cannot be written":    "write-failed",
	"file is written again":     "write-recovered",
	"warning about the command": "warning",
	"message of the command":    "message",
	"command failed":            "failed",
}

// FollowLog is where a verb with --follow reports: standard error. These are sentences, or a log with --log-format or
// --json.
type FollowLog struct {
	Cmd *cobra.Command
	Log *slog.Logger // nil: sentences
}

// NewFollowLog returns the log of a verb with the flag --log-format. It also redirects what the verb prints on standard
// error.
func NewFollowLog(cmd *cobra.Command) FollowLog {
	format := cmd.Flags().Lookup("log-format")
	form := format.Value.String()
	switch {
	case format.Changed:
	case WantsJSON(cmd):
		form = "json"
	default:
		StampMessages(cmd)
		return FollowLog{Cmd: cmd}
	}
	log := slog.New(eventlog.Handler{Handler: node.NewLogger(os.Stderr, form, QuietLevel(cmd)).Handler(), Events: followEvents})
	cmd.SetErr(recordWriter{log})
	return FollowLog{cmd, log}
}

// Share returns the logger for package share.
func (l FollowLog) Share() *slog.Logger {
	if l.Log != nil {
		return l.Log
	}
	return WarningLog(l.Cmd)
}

// Warn reports a warning: a message with attributes, or a sentence.
func (l FollowLog) Warn(msg string, attrs []any, format string, args ...any) {
	if l.Log == nil {
		Warn(l.Cmd, format, args...)
		return
	}
	l.Log.Warn(msg, attrs...)
}

// Inform is warn for what is no warning.
func (l FollowLog) Inform(msg string, attrs []any, format string, args ...any) {
	if l.Log == nil {
		Inform(l.Cmd, format, args...)
		return
	}
	l.Log.Info(msg, attrs...)
}

// WarnOf is warnOf with the message and the attributes for a log.
func (l FollowLog) WarnOf(f *faultlog.Fault, cause error, msg string, attrs []any, format string, args ...any) {
	if l.Log == nil {
		warnOf(l.Cmd, f, cause, format, args...)
		return
	}
	if n, ok := f.FailBy(message.Of(cause)); ok {
		attrs = append(attrs, "error", cause)
		if n > 0 {
			attrs = append(attrs, "omitted", n)
		}
		l.Log.Warn(msg, attrs...)
	}
}

// NoteEnd is noteEnd with the message and the attributes for a log.
func (l FollowLog) NoteEnd(f *faultlog.Fault, msg string, attrs []any, format string, args ...any) {
	if l.Log == nil {
		noteEnd(l.Cmd, f, format, args...)
		return
	}
	f.Succeeded(l.Log).Info(msg, attrs...)
}

// recordWriter logs each line that is printed on standard error.
type recordWriter struct{ log *slog.Logger }

func (w recordWriter) Write(b []byte) (int, error) {
	for line := range bytes.Lines(b) {
		text := strings.TrimPrefix(strings.TrimSuffix(string(line), "\n"), "umbel: ")
		if what, ok := strings.CutPrefix(text, warningWord()+" "); ok {
			w.log.Warn("warning about the command", "what", what)
		} else {
			w.log.Info("message of the command", "what", text)
		}
	}
	return len(b), nil
}

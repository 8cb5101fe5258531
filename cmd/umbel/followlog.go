package main

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

// followLog is where a verb with --follow reports: standard error. These are sentences, or a log with --log-format or
// --json.
type followLog struct {
	cmd *cobra.Command
	log *slog.Logger // nil: sentences
}

// newFollowLog returns the log of a verb with the flag --log-format. It also redirects what the verb prints on standard
// error.
func newFollowLog(cmd *cobra.Command) followLog {
	format := cmd.Flags().Lookup("log-format")
	form := format.Value.String()
	switch {
	case format.Changed:
	case wantsJSON(cmd):
		form = "json"
	default:
		stampMessages(cmd)
		return followLog{cmd: cmd}
	}
	log := slog.New(eventlog.Handler{Handler: node.NewLogger(os.Stderr, form, quietLevel(cmd)).Handler(), Events: followEvents})
	cmd.SetErr(recordWriter{log})
	return followLog{cmd, log}
}

// share returns the logger for package share.
func (l followLog) share() *slog.Logger {
	if l.log != nil {
		return l.log
	}
	return warningLog(l.cmd)
}

// warn reports a warning: a message with attributes, or a sentence.
func (l followLog) warn(msg string, attrs []any, format string, args ...any) {
	if l.log == nil {
		warn(l.cmd, format, args...)
		return
	}
	l.log.Warn(msg, attrs...)
}

// inform is warn for what is no warning.
func (l followLog) inform(msg string, attrs []any, format string, args ...any) {
	if l.log == nil {
		inform(l.cmd, format, args...)
		return
	}
	l.log.Info(msg, attrs...)
}

// warnOf is warnOf with the message and the attributes for a log.
func (l followLog) warnOf(f *faultlog.Fault, cause error, msg string, attrs []any, format string, args ...any) {
	if l.log == nil {
		warnOf(l.cmd, f, cause, format, args...)
		return
	}
	if n, ok := f.FailBy(message.Of(cause)); ok {
		attrs = append(attrs, "error", cause)
		if n > 0 {
			attrs = append(attrs, "omitted", n)
		}
		l.log.Warn(msg, attrs...)
	}
}

// noteEnd is noteEnd with the message and the attributes for a log.
func (l followLog) noteEnd(f *faultlog.Fault, msg string, attrs []any, format string, args ...any) {
	if l.log == nil {
		noteEnd(l.cmd, f, format, args...)
		return
	}
	f.Succeeded(l.log).Info(msg, attrs...)
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

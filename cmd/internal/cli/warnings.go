package cli

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli/color"
	"github.com/umbel-filters/umbel/cmd/internal/report/message"
	"github.com/umbel-filters/umbel/internal/faultlog"
)

// Warn prints a warning on standard error.
func Warn(cmd *cobra.Command, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	Say(cmd, Notice{Warning: text}, cmd.Root().Name()+": "+warningWord()+" "+text)
}

// Inform prints on standard error what is no warning, unless -q was given.
func Inform(cmd *cobra.Command, format string, args ...any) {
	if !IsQuiet(cmd) {
		text := fmt.Sprintf(format, args...)
		Say(cmd, Notice{Note: text}, cmd.Root().Name()+": "+text)
	}
}

// Remark is inform for a text that begins with its subject, such as a file.
func Remark(cmd *cobra.Command, format string, args ...any) {
	if !IsQuiet(cmd) {
		text := fmt.Sprintf(format, args...)
		Say(cmd, Notice{Note: text}, text)
	}
}

// Notice is how a message that is no error is reported with --json.
type Notice struct {
	Warning string `json:"warning,omitempty"`
	Note    string `json:"note,omitempty"`
}

// Say prints a message on standard error: n as one JSON object, or text. A log has its own form.
func Say(cmd *cobra.Command, n Notice, text string) {
	w := cmd.ErrOrStderr()
	if _, isLog := w.(recordWriter); WantsJSON(cmd) && !isLog {
		_ = JSONLine(w, n)
		return
	}
	fmt.Fprintln(w, text)
}

// warningWord begins a warning.
func warningWord() string { return paintMessage(color.Yellow, "warning:") }

// warnOf prints a warning about a fault that lasts, with its cause: when it begins or has another cause, and once per
// minute.
func warnOf(cmd *cobra.Command, f *faultlog.Fault, cause error, format string, args ...any) {
	text := message.Of(cause)
	if n, ok := f.FailBy(text); ok {
		Warn(cmd, "%s; %s%s", text, fmt.Sprintf(format, args...), omittedNote(n))
	}
}

// noteEnd prints that a fault of warnOf is over.
func noteEnd(cmd *cobra.Command, f *faultlog.Fault, format string, args ...any) {
	if lasted, n, over := f.Succeed(); over {
		Inform(cmd, "%s, after %v%s", fmt.Sprintf(format, args...), lasted.Round(time.Second), omittedNote(n))
	}
}

// omittedNote is the end of a warning before which n others were omitted.
func omittedNote(n uint64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (omitted %d)", n)
}

// WarningLog returns a logger that prints warnings and errors like [warn], for verbs that a user watches. Messages of level
// info, such as that a fault is over, are sentences without the word. The log of a server has times and attributes
// instead: see package eventlog.
func WarningLog(cmd *cobra.Command) *slog.Logger {
	return slog.New(&warningHandler{printed: &printed{cmd: cmd, level: QuietLevel(cmd), by: map[string]*warning{}}})
}

// warningHandler prints a record as a sentence: its message, its error, and its other attributes in parentheses.
type warningHandler struct {
	*printed
	attrs []slog.Attr
}

// repeatAfter is the time after which the same warning is printed again. It is less than faultlog.Period, so that it
// does not omit the messages that are due.
const repeatAfter = faultlog.Period - 5*time.Second

// printed are the warnings that a handler and those derived from it have printed.
type printed struct {
	cmd   *cobra.Command
	level slog.Level
	mu    sync.Mutex
	by    map[string]*warning // by message and error; without those older than repeatAfter
}

// warning is a warning that was printed.
type warning struct {
	at      time.Time
	omitted uint64 // since then
}

// Enabled implements slog.Handler.
func (h *warningHandler) Enabled(_ context.Context, l slog.Level) bool { return l >= h.level }

// Handle implements slog.Handler.
func (h *warningHandler) Handle(_ context.Context, r slog.Record) error {
	text := r.Message
	var more []string
	omitted, again := uint64(0), ""
	each := func(a slog.Attr) bool {
		if err, ok := a.Value.Any().(error); ok {
			text += ": " + message.Of(err)
		} else if a.Key == "delay" {
			again = "; it is tried again"
		} else if a.Key == "omitted" {
			omitted = a.Value.Uint64()
		} else {
			more = append(more, a.Key+" "+a.Value.String())
		}
		return true
	}
	for _, a := range h.attrs {
		each(a)
	}
	r.Attrs(each)
	h.mu.Lock()
	defer h.mu.Unlock()
	isWarning := r.Level >= slog.LevelWarn
	if isWarning {
		n, due := h.due(text)
		if !due {
			return nil
		}
		omitted += n
	} else {
		clear(h.by) // the next warning begins another fault
	}
	if omitted > 0 {
		more = append(more, fmt.Sprintf("omitted %d", omitted))
	}
	if more != nil {
		text += " (" + strings.Join(more, ", ") + ")"
	}
	if text += again; isWarning {
		Warn(h.cmd, "%s", text)
	} else {
		Inform(h.cmd, "%s", text)
	}
	return nil
}

// due reports whether a warning was not printed recently, with the number of times that it was omitted, and records
// that it is printed now.
func (p *printed) due(text string) (omitted uint64, ok bool) {
	now := time.Now()
	w := p.by[text]
	if w != nil && now.Sub(w.at) < repeatAfter {
		w.omitted++
		return 0, false
	}
	if w != nil {
		omitted = w.omitted
	}
	for text, w := range p.by {
		if now.Sub(w.at) >= repeatAfter {
			delete(p.by, text)
		}
	}
	p.by[text] = &warning{at: now}
	return omitted, true
}

// WithAttrs implements slog.Handler.
func (h *warningHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &warningHandler{h.printed, append(h.attrs[:len(h.attrs):len(h.attrs)], attrs...)}
}

// WithGroup implements slog.Handler. Package share has no groups.
func (h *warningHandler) WithGroup(string) slog.Handler { return h }

// QuietLevel is the least level of what a verb that logs prints.
func QuietLevel(cmd *cobra.Command) slog.Level {
	if IsQuiet(cmd) {
		return slog.LevelWarn
	}
	return slog.LevelInfo
}

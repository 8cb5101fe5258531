package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/color"
	"github.com/umbel-filters/umbel/cmd/internal/message"
)

// warn prints a warning on standard error.
func warn(cmd *cobra.Command, format string, args ...any) {
	fmt.Fprintf(cmd.ErrOrStderr(), "umbel: %s "+format+"\n", append([]any{warningWord()}, args...)...)
}

// warningWord begins a warning.
func warningWord() string { return paintMessage(color.Yellow, "warning:") }

// warningLog returns a logger that prints warnings and errors like [warn], for verbs that a user watches.
// The log of a server has times and attributes instead: see [logger].
func warningLog(cmd *cobra.Command) *slog.Logger {
	return slog.New(&warningHandler{printed: &printed{w: cmd.ErrOrStderr(), at: map[string]time.Time{}}})
}

// warningHandler prints a record as a sentence: its message, its error, and its other attributes in parentheses.
type warningHandler struct {
	*printed
	attrs []slog.Attr
}

// repeatAfter is the time after which the same warning is printed again.
const repeatAfter = time.Minute

// printed are the warnings that a handler and those derived from it have printed.
type printed struct {
	mu sync.Mutex
	w  io.Writer
	at map[string]time.Time // by message and error; without those older than repeatAfter
}

// Enabled implements slog.Handler.
func (h *warningHandler) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelWarn }

// Handle implements slog.Handler.
func (h *warningHandler) Handle(_ context.Context, r slog.Record) error {
	text := r.Message
	var more []string
	again := ""
	each := func(a slog.Attr) bool {
		if err, ok := a.Value.Any().(error); ok {
			text += ": " + message.Of(err)
		} else if a.Key == "delay" {
			again = "; it is tried again"
		} else {
			more = append(more, a.Key+" "+a.Value.String())
		}
		return true
	}
	for _, a := range h.attrs {
		each(a)
	}
	r.Attrs(each)
	if !h.due(text) {
		return nil
	}
	if more != nil {
		text += " (" + strings.Join(more, ", ") + ")"
	}
	_, err := fmt.Fprintf(h.w, "umbel: %s %s%s\n", warningWord(), text, again)
	return err
}

// due reports whether a warning was not printed recently, and records that it is printed now.
func (p *printed) due(text string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	for text, at := range p.at {
		if now.Sub(at) >= repeatAfter {
			delete(p.at, text)
		}
	}
	if _, recent := p.at[text]; recent {
		return false
	}
	p.at[text] = now
	return true
}

// WithAttrs implements slog.Handler.
func (h *warningHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &warningHandler{h.printed, append(h.attrs[:len(h.attrs):len(h.attrs)], attrs...)}
}

// WithGroup implements slog.Handler. Package share has no groups.
func (h *warningHandler) WithGroup(string) slog.Handler { return h }

// quietLevel is the least level of what a verb that logs prints.
func quietLevel(cmd *cobra.Command) slog.Level {
	if isQuiet(cmd) {
		return slog.LevelWarn
	}
	return slog.LevelInfo
}

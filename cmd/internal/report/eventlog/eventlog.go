// Package eventlog makes the loggers of servers. Messages have the attribute "event", so that searches and alerts can
// rely on it: the value never changes, also if the message does.
package eventlog

import (
	"context"
	"log/slog"
	"os"

	"golang.org/x/term"

	"github.com/umbel-filters/umbel/cmd/internal/report/message"
)

// Events are the values of the attribute "event", by message.
type Events map[string]string

// New returns the log of the program, which writes to a file in the format text, json or auto, which is text on a terminal. What
// package net/http reports goes to it, too.
func New(to *os.File, format string, level slog.Leveler, events Events) *slog.Logger {
	o := &slog.HandlerOptions{Level: level, ReplaceAttr: readable}
	var form slog.Handler = slog.NewJSONHandler(to, o)
	if format == "text" || format == "auto" && term.IsTerminal(int(to.Fd())) {
		form = slog.NewTextHandler(to, o)
	}
	log := slog.New(Handler{form, events})
	redirect(log)
	return log
}

// readable makes durations text in all formats, for example 1.5s: in JSON they were nanoseconds. It makes errors
// messages for users, without the names of packages.
func readable(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.StringValue(a.Value.Duration().String())
	} else if err, ok := a.Value.Any().(error); ok {
		a.Value = slog.StringValue(message.Of(err))
	}
	return a
}

// Handler adds the attribute "event" to messages.
type Handler struct {
	slog.Handler
	Events Events
}

// Handle implements slog.Handler.
func (h Handler) Handle(ctx context.Context, r slog.Record) error {
	if event, ok := h.Events[r.Message]; ok {
		r = r.Clone()
		r.AddAttrs(slog.String("event", event))
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return Handler{h.Handler.WithAttrs(attrs), h.Events}
}

// WithGroup implements slog.Handler.
func (h Handler) WithGroup(name string) slog.Handler {
	return Handler{h.Handler.WithGroup(name), h.Events}
}

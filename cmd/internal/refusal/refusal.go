// Package refusal words errors of an engine as replies to Redis clients.
package refusal

import (
	"errors"
	"strings"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
)

// Text returns the reply for an error: MISCONF if nothing can be kept, OOM if there is
// no memory for it, and ERR otherwise, followed by what the error says, in one line.
func Text(err error) string {
	switch {
	case errors.Is(err, engine.ErrReadOnly):
		return "MISCONF " + line(err)
	case errors.Is(err, engine.ErrMemory):
		return "OOM " + line(err)
	}
	return "ERR " + line(err)
}

// Unkept returns the reply for an error of waiting for a change that was made to be kept.
func Unkept(err error) string {
	return "MISCONF it isn't known whether the change will be kept: " + line(err)
}

// line returns an error's text as a simple reply can have it. That what was asked can't be
// had needs no saying behind the reason.
func line(err error) string {
	text := strings.TrimPrefix(err.Error(), "umbel: ")
	text = strings.TrimSuffix(text, ": "+umbel.ErrGoal.Error())
	return strings.Map(func(r rune) rune {
		if r == '\r' || r == '\n' {
			return ' '
		}
		return r
	}, text)
}

// Package refusal formats errors of the engine as replies to Redis clients.
package refusal

import (
	"errors"
	"strings"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
)

// Text returns the reply for an error: MISCONF if no changes are accepted, OOM if the memory
// limit is reached, otherwise ERR, followed by the text of the error on one line.
func Text(err error) string {
	switch {
	case errors.Is(err, engine.ErrReadOnly):
		return "MISCONF " + line(err)
	case errors.Is(err, engine.ErrMemory):
		return "OOM " + line(err)
	}
	return "ERR " + line(err)
}

// Unkept returns the reply for a change that was made but may not be durable. MISCONF means that
// nothing was changed.
func Unkept(err error) string {
	return "UNKEPT the change was made but may not be durable: " + line(err)
}

// line returns the text of an error on one line, without the redundant umbel.ErrGoal.
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

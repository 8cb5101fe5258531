package cli

import (
	"os"

	"github.com/umbel-filters/umbel/cmd/internal/cli/color"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
)

// Paint returns text for standard output, in a style if that is a terminal with colors.
func Paint(s color.Style, text string) string {
	if !color.Enabled(os.Stdout) {
		return text
	}
	return s.Paint(text)
}

// PaintState returns the state of a subscription in its color, green, yellow or red.
func PaintState(state string) string {
	switch state {
	case api.SubscriptionExact:
		return Paint(color.Green, state)
	case api.SubscriptionStale:
		return Paint(color.Red, state)
	}
	return Paint(color.Yellow, state)
}

package main

import (
	"os"

	"github.com/umbel-filters/umbel/cmd/internal/cli/color"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
)

// paint returns text for standard output, in a style if that is a terminal with colors. A message to
// standard error uses [paintMessage].
func paint(s color.Style, text string) string { return paintFor(os.Stdout, s, text) }

// paintMessage is [paint] for standard error.
func paintMessage(s color.Style, text string) string { return paintFor(os.Stderr, s, text) }

func paintFor(f *os.File, s color.Style, text string) string {
	if !color.Enabled(f) {
		return text
	}
	return s.Paint(text)
}

// paintState returns the state of a subscription in its color: that of umbel demo.
func paintState(state string) string {
	switch state {
	case api.SubscriptionExact:
		return paint(color.Green, state)
	case api.SubscriptionStale:
		return paint(color.Red, state)
	}
	return paint(color.Yellow, state)
}

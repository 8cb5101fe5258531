//go:build unix

package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/pagetest"
)

// pages are those with all their commands in sessions.
var pages = []string{
	"README.md",
	"docs/choosing.md",
	"docs/messages.md",
	"docs/multicast.md",
	"docs/node-http.md",
	"docs/recipes.md",
}

// Every command of a page runs, and prints what the page shows.
func TestPages(t *testing.T) {
	for _, page := range pages {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join("../..", page)
			pagetest.Run(t, file, "../../docs/samples", *update)
			for line := range strings.Lines(read(t, file)) {
				if strings.HasPrefix(line, "    umbel ") {
					t.Errorf("%s has a command outside of a session: %s", page, line)
				}
			}
		})
	}
}

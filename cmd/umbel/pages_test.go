package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/testing/pagetest"
)

// Every command of a page runs: those in sessions here, and print what the page shows; others are
// in a script.
func TestPages(t *testing.T) {
	commands := ""
	for _, name := range scripts(t) {
		commands += read(t, name)
	}
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	kinds, err := filepath.Glob("../../docs/kinds/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range slices.Concat(pages, kinds, []string{"../../README.md"}) {
		t.Run(strings.TrimPrefix(page, "../../"), func(t *testing.T) {
			t.Parallel()
			pagetest.Run(t, page, "../../docs/samples", *update)
			for _, command := range indented.FindAllStringSubmatch(read(t, page), -1) {
				if !strings.Contains(commands, command[1]) {
					t.Errorf("%s: no session and no script contains %q", page, command[1])
				}
			}
		})
	}
}

// indented matches a command outside of sessions, without a redirection and a comment: scripts
// have none.
var indented = regexp.MustCompile(`(?m)^    (umbel[a-z-]* .*?)( > .*| +# .*)?$`)

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

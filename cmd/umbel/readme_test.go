package main

import (
	"os"
	"strings"
	"testing"
)

// Each command of a page is in a script. In README.md a command begins with go run.
func TestPrintedCommands(t *testing.T) {
	for _, c := range []struct {
		page, prefix string
		scripts      []string
		least        int
	}{
		{"../../README.md", "go run ./cmd/umbel ", []string{"readme.txt", "demo.txt"}, 2},
		{"../../docs/share.md", "umbel ", []string{"share.txt"}, 14},
		{"../../docs/node.md#Publications", "umbel ", []string{"publications.txt"}, 6},
	} {
		scripts := ""
		for _, name := range c.scripts {
			scripts += read(t, "testdata/"+name)
		}
		commands := 0
		for line := range strings.Lines(section(t, c.page)) {
			if !strings.HasPrefix(line, "    ") || !strings.Contains(line, c.prefix) {
				continue
			}
			commands++
			command := strings.ReplaceAll(strings.TrimSpace(line), c.prefix, "umbel ")
			command, _, _ = strings.Cut(command, " > ") // scripts have no redirections
			if !strings.Contains(scripts, command) {
				t.Errorf("%s: no script contains %q", c.page, command)
			}
		}
		if commands < c.least {
			t.Errorf("%s has %d commands, want at least %d", c.page, commands, c.least)
		}
	}
}

// section returns a page, or the section of a page whose heading follows #.
func section(t *testing.T, page string) string {
	t.Helper()
	name, heading, ok := strings.Cut(page, "#")
	text := read(t, name)
	if !ok {
		return text
	}
	if _, text, ok = strings.Cut(text, "\n## "+heading+"\n"); !ok {
		t.Fatalf("%s has no section %s", name, heading)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	return text
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

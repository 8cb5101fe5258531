package main

import (
	"os"
	"strings"
	"testing"
)

// Each command of README.md is in a script, except for the name of the word list.
func TestReadmeCommands(t *testing.T) {
	read := func(name string) string {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	scripts := read("testdata/readme.txt") + read("testdata/serve.txt")
	commands := 0
	for line := range strings.Lines(read("../../README.md")) {
		command, ok := strings.CutPrefix(line, "    go run ./cmd/umbel ")
		if !ok {
			continue
		}
		commands++
		command = "umbel " + strings.Replace(strings.TrimSpace(command), "/usr/share/dict/words", "words", 1)
		if !strings.Contains(scripts, command) {
			t.Errorf("no script contains %q", command)
		}
	}
	if commands < 3 {
		t.Errorf("README.md has %d commands, want at least 3", commands)
	}
}

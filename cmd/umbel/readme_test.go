package main

import (
	"os"
	"strings"
	"testing"
)

// Each command of README.md is in a script.
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
		if !strings.HasPrefix(line, "    ") || !strings.Contains(line, "go run ./cmd/umbel ") {
			continue
		}
		commands++
		command := strings.ReplaceAll(strings.TrimSpace(line), "go run ./cmd/umbel ", "umbel ")
		if !strings.Contains(scripts, command) {
			t.Errorf("no script contains %q", command)
		}
	}
	if commands < 3 {
		t.Errorf("README.md has %d commands, want at least 3", commands)
	}
}

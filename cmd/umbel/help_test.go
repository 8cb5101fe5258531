package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// Each verb is in one group of umbel --help.
func TestEachVerbIsListed(t *testing.T) {
	times := map[string]int{}
	for _, g := range verbGroups {
		for _, name := range g.verbs {
			times[name]++
		}
	}
	root := rootCommand()
	for _, c := range root.Commands() {
		if n := times[c.Name()]; n != 1 && c.IsAvailableCommand() {
			t.Errorf("%s is in %d groups of verbGroups, want 1", c.Name(), n)
		}
		delete(times, c.Name())
	}
	for name := range times {
		t.Errorf("verbGroups names %s, which is not a verb", name)
	}
}

// The help of every verb fits 80 columns, except for usage lines and examples, which are to be copied.
func TestHelpFits(t *testing.T) {
	var check func(*cobra.Command)
	check = func(c *cobra.Command) {
		var b bytes.Buffer
		c.SetOut(&b)
		c.InitDefaultHelpFlag()
		printHelp(c, nil)
		usage, _, _ := strings.Cut(c.UseLine(), " [flags]")
		for line := range strings.Lines(b.String()) {
			line = strings.TrimSuffix(line, "\n")
			if len([]rune(line)) > 80 && !strings.Contains(c.Example, line) && !strings.Contains(line, usage) {
				t.Errorf("%s: %d columns: %s", c.CommandPath(), len([]rune(line)), line)
			}
		}
		for _, sub := range c.Commands() {
			check(sub)
		}
	}
	check(rootCommand())
}

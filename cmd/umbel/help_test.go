package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
)

// The help of every verb fits 80 columns, except for usage lines and examples, which are to be copied, and 80 lines. What it leaves out
// is in the help command and in the manual page.
func TestHelpFits(t *testing.T) {
	var check func(*cobra.Command)
	check = func(c *cobra.Command) {
		short := printed(c, func(c *cobra.Command) { cli.PrintHelp(c, nil) })
		all := printed(c, cli.PrintAll)
		if n := strings.Count(short, "\n"); n > 80 {
			t.Errorf("%s --help has %d lines, want at most 80: cli.Reference takes text, spec.Group takes flags out of it", c.CommandPath(), n)
		}
		usage, _, _ := strings.Cut(c.UseLine(), " [flags]")
		for line := range strings.Lines(all) {
			line = strings.TrimSuffix(line, "\n")
			if len([]rune(line)) > 80 && !strings.Contains(c.Example, line) && !strings.Contains(line, usage) {
				t.Errorf("%s: %d columns: %s", c.CommandPath(), len([]rune(line)), line)
			}
		}
		page := string(cli.ManPage(c))
		for _, annotation := range c.Annotations {
			for word := range strings.FieldsSeq(annotation) {
				if !strings.Contains(all, word) || !strings.Contains(strings.ReplaceAll(page, `\`, ""), strings.NewReplacer("'", "(aq", `\`, "").Replace(word)) {
					t.Errorf("%s: the help command or the manual page has no %q of the reference", c.CommandPath(), word)
				}
			}
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && (!strings.Contains(short, "--"+f.Name) || !strings.Contains(all, "--"+f.Name)) {
				t.Errorf("%s: the help has no --%s", c.CommandPath(), f.Name)
			}
		})
		for _, sub := range c.Commands() {
			check(sub)
		}
	}
	for _, root := range roots() {
		check(root)
	}
}

// printed returns what print writes about a command.
func printed(c *cobra.Command, print func(*cobra.Command)) string {
	var b bytes.Buffer
	c.SetOut(&b)
	c.InitDefaultHelpFlag()
	print(c)
	return b.String()
}

// Plans and measurements fit 80 columns if standard output is not a terminal. Demo --plain is wider.
func TestWidth(t *testing.T) {
	for _, command := range []string{
		"kinds", "plan -n 1e9", "plan -n 1e9 --bytes 1GiB", "plan --fpr 1e-6 --bytes 10", "plan -n 2000 --bytes 64KiB --kind bloom",
		"plan -n 1e6 --k 3", "plan -n 1e6 --fpr 1% --churn 1%", "plan -n 1e6 --fpr 1% --churn 1% --peers 10",
		"plan -n 1000 --sent 1400B --query-only", "plan -n 10000 --sent 10000B --curve -",
		"measure -n 1000 --fpr 0.1% --filters 1 --queries 5000", "measure -n 1000 --bytes 100 --filters 1 --queries 5000",
	} {
		var stdout, stderr bytes.Buffer
		if code := cli.Run(rootCommand(), append(strings.Fields(command), "--quiet"), &cli.Streams{Out: &stdout, Err: &stderr, Now: time.Now}); code != cli.ExitOK {
			t.Errorf("umbel %s: exit code %d: %s", command, code, &stderr)
		}
		for line := range strings.Lines(stdout.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
				t.Errorf("umbel %s prints a line of %d columns: %s", command, n, line)
			}
		}
	}
}

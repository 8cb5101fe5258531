package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
)

// Each verb has a page that describes all of its flags, without defaults that say nothing.
func TestManPages(t *testing.T) {
	macros := map[string]bool{".TH": true, ".SH": true, ".SS": true, ".PP": true, ".TP": true, ".B": true, ".nf": true, ".fi": true}
	pages := 0
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		pages++
		page := string(cli.ManPage(cmd))
		for line := range strings.Lines(page) {
			macro, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			if (line[0] == '.' || line[0] == '\'') && !macros[macro] {
				t.Errorf("%s: the line %q is no macro of man", cmd.CommandPath(), line)
			}
		}
		for _, want := range []string{".SH NAME\n", ".SH SYNOPSIS\n.nf\numbel", `\-\-json`} {
			if !strings.Contains(page, want) {
				t.Errorf("%s: the page has no %q", cmd.CommandPath(), want)
			}
		}
		for _, noise := range []string{"[=", `=""`, "(default )"} {
			if strings.Contains(page, noise) {
				t.Errorf("%s: the page has %q", cmd.CommandPath(), noise)
			}
		}
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				check(c)
			}
		}
	}
	for _, root := range roots() {
		check(root)
	}
	if pages < 50 {
		t.Errorf("%d pages, want one for each verb", pages)
	}
}

func TestRoffEscapes(t *testing.T) {
	var r cli.Roff
	r.Text(".hidden -x \\ 'quoted'\nplain")
	if got, want := r.String(), `\&.hidden \-x \e \(aqquoted\(aq`+"\nplain\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

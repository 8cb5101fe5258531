package main

import (
	_ "embed"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
)

// flagTable is the dictionary of the flags of all programs. A line has the name of a flag, its type, the placeholder of its value and
// its meaning, a phrase that is part of the description of the flag in each verb, with tabs between them.
//
//go:embed testdata/flags.tsv
var flagTable string

// flagEntry is a line of the table.
type flagEntry struct {
	kind, placeholder, meaning string
	used                       bool
}

// units are the placeholders of values that are written in the same way in all flags.
var units = map[string]string{"duration": "DURATION", "size": "SIZE"}

// A flag has one type, one placeholder and one meaning in all verbs of all programs.
func TestFlagDictionary(t *testing.T) {
	table, meanings := map[string]*flagEntry{}, map[string]string{}
	var names []string
	for line := range strings.Lines(flagTable) {
		words := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(words) != 4 || len(strings.Fields(words[3])) < 2 {
			t.Fatalf("%q: want NAME, TYPE, PLACEHOLDER and MEANING with tabs between them, and a meaning of at least two words", line)
		}
		names = append(names, words[0])
		table[words[0]] = &flagEntry{kind: words[1], placeholder: words[2], meaning: words[3]}
		if other := meanings[words[3]]; other != "" {
			t.Errorf("--%s and --%s have the same meaning, %q; give both one name", other, words[0], words[3])
		}
		meanings[words[3]] = words[0]
		unit := units[words[1]]
		if choice := strings.Contains(words[2], "|"); unit != "" && words[2] != unit || !choice && words[2] != strings.ToUpper(words[2]) {
			t.Errorf("--%s: placeholder %q of type %s; want %s, or another word in upper case, or the words to choose from", words[0], words[2], words[1], unit)
		}
	}
	if !slices.IsSorted(names) || len(table) != len(names) {
		t.Error("testdata/flags.tsv is not sorted by name, or has a name twice")
	}
	for _, root := range roots() {
		checkFlags(t, root, table)
	}
	for name, e := range table {
		if !e.used {
			t.Errorf("no verb has the flag --%s; remove its line from testdata/flags.tsv", name)
		}
	}
}

// checkFlags checks the flags of cmd and those of its verbs against the table.
func checkFlags(t *testing.T, cmd *cobra.Command, table map[string]*flagEntry) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		placeholder, doc := pflag.UnquoteUsage(f)
		e := table[f.Name]
		if e == nil {
			t.Errorf("%s has a new flag; add to testdata/flags.tsv: %s", cmd.CommandPath(), strings.Join([]string{f.Name, f.Value.Type(), placeholder, doc}, "\t"))
			return
		}
		e.used = true
		if _, ok := f.Value.(*quantity.Duration); f.Value.Type() == "duration" && !ok {
			t.Errorf("%s --%s: a value of type %T, want *quantity.Duration, which accepts 7d", cmd.CommandPath(), f.Name, f.Value)
		}
		if f.Value.Type() != e.kind || placeholder != e.placeholder {
			t.Errorf("%s --%s: type %s, placeholder %q; other verbs have type %s, placeholder %q", cmd.CommandPath(), f.Name, f.Value.Type(), placeholder, e.kind, e.placeholder)
		}
		if !strings.Contains(strings.ToLower(doc), strings.ToLower(e.meaning)) {
			t.Errorf("%s --%s: %q, but the meaning of this flag is %q; give another meaning another name", cmd.CommandPath(), f.Name, doc, e.meaning)
		}
	})
	for _, verb := range cmd.Commands() {
		checkFlags(t, verb, table)
	}
}

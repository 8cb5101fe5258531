package verbs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// choice adds a flag whose value is one of several words, with completion. The default is
// the first.
func choice[T fmt.Stringer](cmd *cobra.Command, value *T, name, usage string, all ...T) {
	c := choiceFlag[T]{value, all}
	*value = all[0]
	cmd.Flags().Var(c, name, usage+": "+c.words())
	_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(c.names(), cobra.ShellCompDirectiveNoFileComp))
}

// choiceFlag is the value of such a flag.
type choiceFlag[T fmt.Stringer] struct {
	value *T
	all   []T
}

func (c choiceFlag[T]) Set(name string) error {
	i := slices.Index(c.names(), name)
	if i < 0 {
		return fmt.Errorf("want %s", c.words())
	}
	*c.value = c.all[i]
	return nil
}

func (c choiceFlag[T]) String() string {
	if c.value == nil {
		return ""
	}
	return (*c.value).String()
}

func (c choiceFlag[T]) Type() string { return "" }

func (c choiceFlag[T]) names() []string {
	var names []string
	for _, v := range c.all {
		names = append(names, v.String())
	}
	return names
}

// words returns the names as in a sentence.
func (c choiceFlag[T]) words() string {
	names := c.names()
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// word is a choice whose value is its name.
type word string

func (w word) String() string { return string(w) }

// completeList completes a flag whose value is a comma-separated list of words.
func completeList(cmd *cobra.Command, flag string, words []string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		before := typed[:strings.LastIndexByte(typed, ',')+1]
		given := strings.Split(before, ",")
		var all []string
		for _, w := range words {
			if !slices.Contains(given, w) {
				all = append(all, before+w)
			}
		}
		return all, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	})
}

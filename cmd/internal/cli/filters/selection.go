package filters

import (
	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
)

// Selection decides the exit code of a verb that queries keys, as grep does for lines: 0 if a key is selected, 1 if none is. With
// --all it is 0 only if every key is selected. Without any key, which --allow-empty accepts, it is 0.
type Selection struct {
	all              bool
	selected, others uint64
}

// AddFlag adds the flag --all.
func (s *Selection) AddFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&s.all, "all", false, "exit with 1 unless every key is selected, instead of one of them")
}

// Select notes a key.
func (s *Selection) Select(selected bool) {
	if selected {
		s.selected++
	} else {
		s.others++
	}
}

// End returns cli.ErrAbsent for exit code 1.
func (s *Selection) End() error {
	if s.others > 0 && (s.all || s.selected == 0) {
		return cli.ErrAbsent
	}
	return nil
}

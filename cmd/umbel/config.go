package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/umbel-filters/umbel/cmd/internal/node"
	"github.com/umbel-filters/umbel/cmd/internal/table"
)

const configHelp = `Print the settings with which umbel serve would start, and where each was said: by a
flag, in the environment, in the file that --config names, or nowhere. It takes the
flags of umbel serve, and says what is wrong where it wouldn't start.`

const configExample = `  umbel config --config /etc/umbel/umbel.yaml
  UMBEL_DURABILITY=everysec umbel config --json | jq '.[] | select(.from != "default")'`

// setting is a line of umbel config.
type setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	From  string `json:"from"`
}

func configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "config",
		Short:   "print a node's settings, and where they come from",
		Long:    configHelp,
		Example: configExample,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, origins, err := node.LoadConfig(cmd.Flags())
			if err != nil {
				return err
			}
			list := make([]setting, len(origins))
			for i, o := range origins {
				list[i] = setting{o.Name, o.Value, o.From}
			}
			if err := answer(cmd, list, func(w io.Writer) error {
				t := table.New("setting", "value", "from")
				for _, s := range list {
					t.Row(s.Name, s.Value, s.From)
				}
				_, err := t.WriteTo(w)
				return err
			}); err != nil {
				return err
			}
			return c.Validate()
		},
	}
	node.Flags(cmd.Flags())
	return cmd
}

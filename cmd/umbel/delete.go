package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

const deleteHelp = `Delete filters of a node, for good: umbel get fetches a copy first. Without --addr the node is
that of this machine, at port 8780.`

const deleteExample = `  umbel delete yesterday
  umbel delete a b c --addr filters.example:8780`

func deleteCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "delete NAME...",
		Short:   "delete filters of a node",
		Long:    deleteHelp,
		Example: deleteExample,
		Args:    arguments(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := dialAny(cmd)
			if err != nil {
				return err
			}
			for _, name := range args {
				if err := n.Delete(cmd.Context(), name); err != nil {
					return err
				}
				if isQuiet(cmd) {
					continue
				}
				err := answer(cmd, map[string]string{"deleted": name}, func(w io.Writer) error {
					_, err := fmt.Fprintf(w, "%s: deleted\n", nameWords(name))
					return err
				})
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
	addAddrFlags(cmd)
	return cmd
}

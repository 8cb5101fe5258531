package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/quantity"
)

const getHelp = `Fetch a filter from a node, as it is at one moment, into a file that all verbs read. The node
goes on meanwhile. Without --addr the node is that of this machine, at port 8780.

With --packed it is sent, and written, in the fewest bytes (see umbel pack). Of a filter
whose seed is secret only an administrator gets a file: the seed is in it.`

const getExample = `  umbel get users -o users.umb
  umbel get users --packed -o users.umb --addr filters.example:8780`

// fetched is what umbel get says.
type fetched struct {
	Name  string `json:"name"`
	File  string `json:"file"`
	Bytes uint64 `json:"bytes"` // of the file
	ID    string `json:"id,omitempty"`
}

func getCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "get NAME -o FILE",
		Short:   "fetch a filter from a node",
		Long:    getHelp,
		Example: getExample,
		Args:    arguments(1, 1),

		DisableFlagsInUseLine: true,
	}
	output := cmd.Flags().StringP("output", "o", "", "`FILE` to write")
	packed := cmd.Flags().Bool("packed", false, "in the fewest bytes")
	addAddrFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *output == "" {
			return usageError(cmd, fmt.Errorf("name the file to write: -o FILE"))
		}
		n, err := dialAny(cmd)
		if err != nil {
			return err
		}
		result := fetched{Name: args[0], File: *output}
		result.Bytes, err = writeFile(cmd, *output, -1, func(w io.Writer) (err error) {
			result.ID, err = n.Get(cmd.Context(), args[0], *packed, w)
			return err
		})
		if err != nil || isQuiet(cmd) {
			return err
		}
		return report(cmd, *output, result, func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "%s: %v bytes, id %s\n", *output, quantity.Count(result.Bytes), result.ID)
			return err
		})
	}
	return cmd
}

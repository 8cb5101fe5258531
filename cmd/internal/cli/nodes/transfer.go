package nodes

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/cli/filters"
	"github.com/umbel-filters/umbel/cmd/internal/files/container"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/http/remote"
	"github.com/umbel-filters/umbel/filter"
)

const getHelp = `Fetch a consistent copy of a filter from a node into a file that all verbs read. The node
keeps serving the filter.

With --packed the copy is sent and written in the fewest bytes (see umbel pack). Only an
administrator gets a filter with a secret seed, because the file contains the seed. Only the
owner can read a new file.`

const getExample = `  umbel node get users -o users.umb
  umbel node get users --packed -o users.umb --addr filters.example:8780`

// getResult is the result of umbel node get.
type getResult struct {
	Name  string `json:"name"`
	File  string `json:"file"`
	Bytes uint64 `json:"bytes"` // of the file
	ID    string `json:"id,omitempty"`
}

// getOptions are the flags of umbel node get.
type getOptions struct {
	output *string
	packed bool
}

func getCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "get NAME -o FILE", Short: "fetch a filter from a node", Long: getHelp, Example: getExample,
		Args: cli.Arguments(1, 1), DisableFlagsInUseLine: true,
	}
	o := getOptions{output: cli.AddOutputFlag(cmd, "`FILE` to write", cli.OutputFlag{Fetches: true})}
	cli.Required(cmd, "output", cli.ErrNoOutput.Error())
	cmd.Flags().BoolVar(&o.packed, "packed", false, "fetch in the fewest bytes")
	return onNode(cmd, func(n *remote.Client, args []string) error { return get(cmd, n, args[0], o) })
}

// get writes a filter of a node to a file.
func get(cmd *cobra.Command, n *remote.Client, name string, o getOptions) error {
	result := getResult{Name: name, File: *o.output}
	var err error
	result.Bytes, err = cli.WriteSecret(cmd, *o.output, -1, func(w io.Writer) (err error) {
		result.ID, err = n.Get(cmd.Context(), name, o.packed, w)
		return err
	})
	if err != nil || cli.IsQuiet(cmd) {
		return err
	}
	return cli.Report(cmd, *o.output, result, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s: %v bytes, id %s\n", *o.output, quantity.Count(result.Bytes), result.ID)
		return err
	})
}

const putHelp = `Upload FILE to a node as filter NAME; "-" is standard input. With --replace it replaces a
filter of that name, which is served until the upload is complete.

If the rate of the filter is more than twice the one that it was made for, a warning is printed, and the exit code is 6,
or 0 with --lossy.
With --strict FILE is read and measured first, nothing is sent, and the exit code is 2.`

const putExample = `  umbel node put users.umb users
  umbel node put words.umb words --replace --addr filters.example:8780`

func putCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "put FILE NAME", Short: "upload a filter to a node", Long: putHelp, Example: putExample,
		Args: cli.Arguments(2, 2),
	}
	replace := cmd.Flags().Bool("replace", false, "replace an existing filter")
	filters.AddStrictFlag(cmd)
	return onNode(cmd, func(n *remote.Client, args []string) error { return put(cmd, n, args[0], args[1], *replace) })
}

// put uploads the filter in a file as the filter name of a node.
func put(cmd *cobra.Command, n *remote.Client, file, name string, replace bool) error {
	if filters.IsStrict(cmd) {
		if err := refuseOverfull(cmd, file); err != nil {
			return err
		}
	}
	files, closeFiles, err := cli.OpenKeys(cmd, []string{file})
	if err != nil {
		return err
	}
	defer closeFiles()
	bar := cli.StartBar(cmd, "sending "+file, cli.TotalBytes(files))
	in, err := n.Put(cmd.Context(), name, bar.File(files[0]), replace)
	bar.Stop()
	if err != nil {
		return err
	}
	s := filters.SummaryOf(name, in)
	if err := filters.SettleOnNode(cmd, s, nil); err != nil {
		return err
	}
	return s.Print(cmd, "uploaded from "+file)
}

// refuseOverfull returns an error if the filter in a file is overfull.
func refuseOverfull(cmd *cobra.Command, file string) error {
	if file == "-" {
		return cli.UsageError(cmd, errors.New("--strict measures the filter before it is sent, and needs a file, not standard input"))
	}
	f, _, err := container.Open(file, filter.All)
	if err != nil {
		return err
	}
	return filters.Summarize(file, f).Judge(cmd, "nothing was sent (--strict)")
}

const deleteHelp = `Delete filters on a node permanently; umbel node get fetches a copy first.`

const deleteExample = `  umbel node delete yesterday
  umbel node delete a b c --addr filters.example:8780`

func deleteCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "delete NAME...", Short: "delete filters on a node", Long: deleteHelp, Example: deleteExample,
		Args: cli.Arguments(1, -1),
	}
	return onNode(cmd, func(n *remote.Client, names []string) error {
		for _, name := range names {
			if err := n.Delete(cmd.Context(), name); err != nil {
				return err
			}
			if err := printed(cmd, map[string]string{"deleted": name}, cli.NameWords(name)+": deleted"); err != nil {
				return err
			}
		}
		return nil
	})
}

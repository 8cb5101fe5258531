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
	"github.com/umbel-filters/umbel/filter"
)

const getHelp = `Fetch a consistent copy of a filter from a node into a file that all verbs read. The node
keeps serving the filter. Without --addr it uses the node at 127.0.0.1:8780.

With --packed the copy is sent and written in the fewest bytes (see umbel pack). Only an
administrator gets a filter with a secret seed, because the file contains the seed. Only the
owner can read a new file.`

const getExample = `  umbel get users -o users.umb
  umbel get users --packed -o users.umb --addr filters.example:8780`

// getResult is the result of umbel get.
type getResult struct {
	Name  string `json:"name"`
	File  string `json:"file"`
	Bytes uint64 `json:"bytes"` // of the file
	ID    string `json:"id,omitempty"`
}

func GetCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "get NAME -o FILE",
		Short:   "fetch a filter from a node",
		Long:    getHelp,
		Example: getExample,
		Args:    cli.Arguments(1, 1),

		DisableFlagsInUseLine: true,
	}
	output := cli.AddOutputFlag(cmd, "`FILE` to write", cli.OutputFlag{Fetches: true})
	packed := cmd.Flags().Bool("packed", false, "fetch in the fewest bytes")
	cli.AddAddrFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *output == "" {
			return cli.UsageError(cmd, cli.ErrNoOutput)
		}
		n, err := cli.DialOrLocal(cmd)
		if err != nil {
			return err
		}
		result := getResult{Name: args[0], File: *output}
		result.Bytes, err = cli.WriteSecret(cmd, *output, -1, func(w io.Writer) (err error) {
			result.ID, err = n.Get(cmd.Context(), args[0], *packed, w)
			return err
		})
		if err != nil || cli.IsQuiet(cmd) {
			return err
		}
		return cli.Report(cmd, *output, result, func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "%s: %v bytes, id %s\n", *output, quantity.Count(result.Bytes), result.ID)
			return err
		})
	}
	return cmd
}

const putHelp = `Upload FILE to a node as filter NAME; "-" is standard input. With --replace it replaces a
filter of that name, which is served until the upload is complete. Without --addr it uses the
node at 127.0.0.1:8780.

If the rate of the filter is more than twice the one that it was made for, a warning is printed, and the exit code is 6,
or 0 with --lossy.
With --strict FILE is read and measured first, nothing is sent, and the exit code is 2.`

const putExample = `  umbel put users.umb users
  umbel put words.umb words --replace --addr filters.example:8780`

func PutCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "put FILE NAME",
		Short:   "upload a filter to a node",
		Long:    putHelp,
		Example: putExample,
		Args:    cli.Arguments(2, 2),
	}
	replace := cmd.Flags().Bool("replace", false, "replace an existing filter")
	filters.AddStrictFlag(cmd)
	cli.AddAddrFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		n, err := cli.DialOrLocal(cmd)
		if err != nil {
			return err
		}
		if filters.IsStrict(cmd) {
			if err := refuseOverfull(cmd, args[0]); err != nil {
				return err
			}
		}
		files, closeFiles, err := cli.OpenKeys(cmd, args[:1])
		if err != nil {
			return err
		}
		defer closeFiles()
		bar := cli.StartBar(cmd, "sending "+args[0], cli.TotalBytes(files))
		in, err := n.Put(cmd.Context(), args[1], bar.File(files[0]), *replace)
		bar.Stop()
		if err != nil {
			return err
		}
		s := filters.SummaryOf(args[1], in)
		if err := filters.SettleOnNode(cmd, s, nil); err != nil {
			return err
		}
		return s.Print(cmd, "uploaded from "+args[0])
	}
	return cmd
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

const deleteHelp = `Delete filters on a node permanently; umbel get fetches a copy first. Without --addr it uses
the node at 127.0.0.1:8780.`

const deleteExample = `  umbel delete yesterday
  umbel delete a b c --addr filters.example:8780`

func DeleteCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "delete NAME...",
		Short:   "delete filters on a node",
		Long:    deleteHelp,
		Example: deleteExample,
		Args:    cli.Arguments(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := cli.DialOrLocal(cmd)
			if err != nil {
				return err
			}
			for _, name := range args {
				if err := n.Delete(cmd.Context(), name); err != nil {
					return err
				}
				if cli.IsQuiet(cmd) {
					continue
				}
				err := cli.Answer(cmd, map[string]string{"deleted": name}, func(w io.Writer) error {
					_, err := fmt.Fprintf(w, "%s: deleted\n", cli.NameWords(name))
					return err
				})
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
	cli.AddAddrFlags(cmd)
	return cmd
}

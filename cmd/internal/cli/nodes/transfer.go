package nodes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

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

With --split the filters of a split filter are written to a file each: words.0.umb, words.1.umb, ….

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
	output string
	packed bool
	split  int
}

func getCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "get NAME -o FILE", Short: "fetch a filter from a node", Long: getHelp, Example: getExample,
		Args: cli.Arguments(1, 1), DisableFlagsInUseLine: true,
	}
	o := new(getOptions)
	cli.AddOutputFlag(cmd, &o.output, "`FILE` to write", cli.OutputFlag{Fetches: true})
	cli.Required(cmd, "output", cli.ErrNoOutput.Error())
	cmd.Flags().BoolVar(&o.packed, "packed", false, "fetch in the fewest bytes")
	filters.AddSplitFlag(cmd, &o.split)
	return onNode(cmd, o.run)
}

// run writes a filter of a node to a file.
func (o *getOptions) run(ctx context.Context, streams *cli.Streams, n *remote.Client, args []string) error {
	if o.split == 0 {
		return o.get(ctx, streams, n, args[0], o.output)
	}
	return n.OnSplit(ctx, args[0], o.split, func(i int, node *remote.Client, name string) error {
		return o.get(ctx, streams, node, name, splitFile(o.output, i))
	})
}

// splitFile returns the name of the file of filter i of a split filter: words.umb is words.3.umb for filter 3.
func splitFile(file string, i int) string {
	extension := filepath.Ext(file)
	return fmt.Sprintf("%s.%d%s", strings.TrimSuffix(file, extension), i, extension)
}

func (o *getOptions) get(ctx context.Context, streams *cli.Streams, n *remote.Client, name, file string) error {
	result := getResult{Name: name, File: file}
	var err error
	result.Bytes, err = streams.WriteSecret(file, -1, func(w io.Writer) (err error) {
		result.ID, err = n.Get(ctx, name, o.packed, w)
		return err
	})
	if err != nil {
		return err
	}
	return streams.Report(file, result, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s: %v bytes, id %s\n", file, quantity.Count(result.Bytes), result.ID)
		return err
	})
}

const putHelp = `Upload FILE to a node as filter NAME; "-" is standard input. With --replace it replaces a
filter of that name, which is served until the upload is complete.

With --split the filters of a split filter are read from files as umbel node get --split writes them.

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
	o := new(putOptions)
	cmd.Flags().BoolVar(&o.replace, "replace", false, "replace an existing filter")
	filters.AddSplitFlag(cmd, &o.split)
	filters.AddStrictFlag(cmd, &o.Tolerance)
	return onNode(cmd, o.run)
}

// putOptions are the flags of umbel node put.
type putOptions struct {
	replace bool
	split   int
	filters.Tolerance
}

// run uploads the filter in a file as the filter name of a node.
func (o *putOptions) run(ctx context.Context, streams *cli.Streams, n *remote.Client, args []string) error {
	if o.split == 0 {
		return o.put(ctx, streams, n, args[0], args[1])
	}
	return n.OnSplit(ctx, args[1], o.split, func(i int, node *remote.Client, name string) error {
		return o.put(ctx, streams, node, splitFile(args[0], i), name)
	})
}

func (o *putOptions) put(ctx context.Context, streams *cli.Streams, n *remote.Client, file, name string) error {
	if err := container.CheckHead(file); err != nil {
		return err
	}
	if o.Strict {
		if err := o.refuseOverfull(streams, file); err != nil {
			return err
		}
	}
	files, closeFiles, err := streams.OpenKeys([]string{file})
	if err != nil {
		return err
	}
	defer closeFiles()
	bar := streams.StartBar("sending "+file, cli.TotalBytes(files))
	in, err := n.Put(ctx, name, bar.File(files[0]), o.replace)
	bar.Stop()
	if err != nil {
		return err
	}
	s := filters.SummaryOf(name, in)
	if err := o.SettleOnNode(streams, s, nil); err != nil {
		return err
	}
	return s.Print(streams, "uploaded from "+file)
}

// refuseOverfull returns an error if the filter in a file is overfull.
func (o *putOptions) refuseOverfull(streams *cli.Streams, file string) error {
	if file == "-" {
		return cli.UsageError(errors.New("--strict measures the filter before it is sent, and needs a file, not standard input"))
	}
	f, _, err := container.Open(file, filter.All)
	if err != nil {
		return err
	}
	return filters.Summarize(file, f).Judge(streams, o.Tolerance, "nothing was sent (--strict)")
}

const deleteHelp = `Delete filters on a node permanently; umbel node get fetches a copy first.`

const deleteExample = `  umbel node delete yesterday
  umbel node delete a b c --addr filters.example:8780`

func deleteCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "delete NAME...", Short: "delete filters on a node", Long: deleteHelp, Example: deleteExample,
		Args: cli.Arguments(1, -1),
	}
	o := new(deleteOptions)
	filters.AddSplitFlag(cmd, &o.split)
	return onNode(cmd, o.run)
}

// deleteOptions are the flags of umbel node delete.
type deleteOptions struct{ split int }

func (o *deleteOptions) run(ctx context.Context, streams *cli.Streams, n *remote.Client, names []string) error {
	for _, name := range names {
		var err error
		if o.split == 0 {
			err = n.Delete(ctx, name)
		} else {
			err = n.DeleteSplit(ctx, name, o.split)
		}
		if err != nil {
			return err
		}
		if err := printed(streams, map[string]string{"deleted": name}, cli.NameWords(name)+": deleted"); err != nil {
			return err
		}
	}
	return nil
}

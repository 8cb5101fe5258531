package filters

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/files/build"
	"github.com/umbel-filters/umbel/cmd/internal/files/keys"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/http/remote"
	"github.com/umbel-filters/umbel/filter/ribbon"
)

const addHelp = `Add the keys in the files, or on standard input, to the filter in FILE.

FILE is replaced after all keys are added. Most filters don't grow: their rate rises with
the number of keys, and the summary prints it. If it is more than twice the rate that
the filter was made for, a warning is printed, and the exit code is 6, or 0 with --lossy; with --strict nothing is written, and
the exit code is 2.
A filter with a limit rejects the key that
would exceed it, and nothing is written. A second umbel add to the same file waits until the
first has ended, except on Windows, where the keys of one of them are lost.

With --addr, NAME is a filter on a node. Many clients may add to it at the same time. Keys
that were added before an error stay. While the node refuses changes, because its disk is full, the keys
that it refused are sent again for up to 30 seconds. With -o NAME the keys are added to a copy. The rate is known
after the keys are added: with --strict the exit code is 2, the keys stay, and a copy is deleted.

A filter of kind ribbon stores later keys in a list, 16 bytes each, and a warning is printed; umbel make
makes it from all keys.

Without any key, for example behind a command that failed, nothing is written, and the exit code is 2, unless
--allow-empty is given.`

const addExample = `  umbel add words.umb more-words.txt
  echo umbelliferous | umbel add words.umb -o more.umb
  umbel add users new-users.txt --addr 127.0.0.1:8780`

// addRun is one run of umbel add.
type addRun struct {
	changeOptions
	format     keys.Format
	allowEmpty bool
	split      int

	read, listed uint64
	changed      umbel.Filter // nil on a node
}

// AddCommand is umbel add.
func AddCommand() *cobra.Command {
	r := new(addRun)
	cmd := &cobra.Command{
		Use:     "add FILE [KEYFILE...]",
		Short:   "add keys to a filter",
		Long:    addHelp,
		Example: addExample,
		Args:    cli.Arguments(1, -1),
	}
	cli.AddFormatFlag(cmd, &r.format)
	AddStrictFlag(cmd, &r.Tolerance)
	cli.AddAllowEmptyFlag(cmd, &r.allowEmpty)
	AddSplitFlag(cmd, &r.split)
	changeCommand(cmd, &r.changeOptions, r.change)
	cli.Exclusive(cmd, "split", "output")
	return cmd
}

func (r *addRun) change(args []string) (change, func(*Summary) string, error) {
	if r.split != 0 && r.node.Addr == "" {
		return change{}, nil, errSplitInFile
	}
	return change{
		inMemory: func(f umbel.Filter) (umbel.Filter, error) { return f, r.inMemory(f, args[0], args[1:]) },
		onNode: func(ctx context.Context, n *remote.Client, name string) (remote.Info, error) {
			return r.onNode(ctx, n, name, args)
		},
	}, r.done, nil
}

// inMemory adds the keys of files to the filter of a file.
func (r *addRun) inMemory(f umbel.Filter, file string, names []string) error {
	files, closeFiles, err := r.OpenKeysFor(file, names)
	if err != nil {
		return err
	}
	defer closeFiles()
	job, stop := r.NewJob(f.State().Hasher, r.format, files)
	defer stop()
	if r.read, err = build.Add(f, job, files); err == nil && r.read == 0 && !r.allowEmpty {
		err = cli.NoKeys(names)
	}
	r.listed, r.changed = listedKeys(f.State()), f
	return err
}

// onNode adds the keys of the files behind args[0] to a filter on a node: to that of args[0] or to a copy of it.
func (r *addRun) onNode(ctx context.Context, n *remote.Client, name string, args []string) (remote.Info, error) {
	files, closeFiles, err := r.OpenKeys(args[1:])
	if err != nil {
		return remote.Info{}, err
	}
	defer closeFiles()
	batches, stop := r.ReadKeys(ctx, r.format, files)
	defer stop()
	if !r.allowEmpty {
		batches = cli.OrError(batches, cli.NoKeys(args[1:]))
	}
	f := nodeFilter{n, name, r.split}
	if r.read, err = f.add(ctx, batches); err != nil {
		if name == args[0] && errors.Is(err, context.Canceled) {
			return remote.Info{}, cli.Interrupted(ctx, fmt.Sprintf("at least %v keys were added", quantity.Count(r.read)))
		}
		if r.read > 0 && name == args[0] {
			err = fmt.Errorf("%w; at least %v keys were added before the error", err, quantity.Count(r.read))
		}
		return remote.Info{}, err
	}
	_, in, err := f.open(ctx)
	if in.Kind == ribbon.Name {
		r.listed = uint64(in.Params["listed"])
	}
	return in, err
}

// done describes what was added.
func (r *addRun) done(s *Summary) string {
	s.Read = &r.read
	if r.changed != nil {
		warnSaturated(r.Streams, r.changed)
	}
	if r.listed > 0 && !r.Quiet {
		r.Warn("%s", listedWords(s.File, r.listed))
	}
	return quantity.Count(r.read).Of("key") + " added"
}

// listedKeys returns the number of keys that a ribbon filter stores next to its solution, and 0 for other kinds.
func listedKeys(s umbel.State) uint64 {
	if s.Kind != ribbon.Name {
		return 0
	}
	return s.Params.Uint("listed")
}

// listedWords describes the cost of the keys that were added to a ribbon filter after it was made.
func listedWords(file string, listed uint64) string {
	return fmt.Sprintf("%s stores %v of its keys in a list, %v in all, since they were added after it was made; make it again from all keys with umbel make",
		file, quantity.Count(listed), quantity.Size(16*listed))
}

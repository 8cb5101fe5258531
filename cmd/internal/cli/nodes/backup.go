package nodes

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/durable/backup"
	"github.com/umbel-filters/umbel/cmd/internal/files/atomicfile"
	"github.com/umbel-filters/umbel/cmd/internal/files/container"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/node"
)

const backupHelp = `Write all filters of a node to one file, verify such a file, or make a data directory of it.`

const backupExample = `  umbel backup make --addr 127.0.0.1:8780 -o monday.backup
  umbel backup verify monday.backup
  umbel backup restore monday.backup --data fresh && umbel serve --data fresh`

// BackupCommand is umbel backup.
func BackupCommand() *cobra.Command {
	return cli.Noun("backup", "write all filters of a node to a file, and back", backupHelp, backupExample,
		backupMakeCommand(), backupVerifyCommand(), backupRestoreCommand())
}

const backupMakeHelp = `Write all filters of a node to one file. With --addr the node keeps running; otherwise the data
directory must not be in use by a node. umbel backup verify checks the file, umbel backup restore makes a
data directory of it. Only the owner can read the file, because it contains secret seeds. An
existing file is replaced only with --force.`

const backupMakeExample = `  umbel backup make --addr 127.0.0.1:8780 -o monday.backup
  umbel backup make --data umbel-data -o /dev/stdout | zstd > monday.backup.zst`

func backupMakeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "make -o FILE", Short: "write all filters of a node to a file", Long: backupMakeHelp, Example: backupMakeExample,
		Args: cli.NoArguments,
	}
	o := new(backupOptions)
	cmd.Flags().StringVar(&o.data, "data", "umbel-data", "data `DIRECTORY` of a stopped node")
	cli.AddOutputFlag(cmd, &o.output, "`FILE` to write", cli.OutputFlag{Fetches: true, Keep: true})
	cli.Required(cmd, "output", cli.ErrNoOutput.Error())
	cli.AddAddrFlags(cmd, &o.node)
	cli.Exclusive(cmd, cli.AddrFlag, "data")
	o.given = cli.GivenFlags(cmd)
	return cli.Verb(cmd, o.run)
}

// backupOptions are the flags of umbel backup make.
type backupOptions struct {
	data, output string
	node         cli.Node
	given        cli.Given
}

func (o *backupOptions) run(ctx context.Context, streams *cli.Streams, _ []string) error {
	n, err := o.node.Dial(streams)
	if err != nil {
		return err
	}
	source := func(w io.Writer) error {
		return n.Backup(ctx, func(in io.Reader) error { return backup.Copy(w, in) })
	}
	if n == nil || o.given["data"] { // which overrides UMBEL_ADDR
		settings := node.DefaultConfig()
		settings.Data = o.data
		source = func(w io.Writer) error { return node.Backup(ctx, settings, logger(streams, settings), w) }
	}
	replace := atomicfile.CreateSecret
	if o.given["force"] {
		replace = atomicfile.WriteSecret
	}
	written, err := streams.WriteFileWith(replace, o.output, -1, source)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists; choose another file, or replace it with --force", o.output)
	}
	if err != nil {
		return err
	}
	return streams.Report(o.output, backupInfo{o.output, written}, func(w io.Writer) error {
		name := o.output
		if name == "-" {
			name = "standard output"
		}
		_, err := fmt.Fprintf(w, "%s: %v bytes\n", name, quantity.Count(written))
		return err
	})
}

type backupInfo struct {
	File  string `json:"file"`
	Bytes uint64 `json:"bytes"`
}

const backupVerifyHelp = `Read a backup as a node would at its start, in memory, and describe its contents. The exit code
is 0 if it is undamaged, no filter in it had lost data before, and no names of filters were missing.`

func backupVerifyCommand() *cobra.Command {
	return cli.Verb(&cobra.Command{
		Use: "verify FILE", Short: "check a backup", Long: backupVerifyHelp, Example: "  umbel backup verify monday.backup",
		Args: cli.Arguments(1, 1),
	}, verifyBackup)
}

func verifyBackup(ctx context.Context, streams *cli.Streams, args []string) error {
	file := args[0]
	if container.IsFile(file) {
		return fmt.Errorf("%s is a filter and no backup; umbel verify checks it", file)
	}
	return withBackup(streams, file, func(r io.Reader) error {
		found, err := node.VerifyFile(ctx, r)
		if err != nil {
			return err
		}
		if err := streams.Answer(newFindings(found), newFindings(found).Write); err != nil {
			return err
		}
		switch {
		case found.Incomplete > 0:
			return fmt.Errorf("%s is undamaged, but %d of its filters had lost data before the backup", file, found.Incomplete)
		case found.Missing != nil:
			return fmt.Errorf("%s is undamaged, but the node had lost filters before the backup, and the loss was not acknowledged", file)
		}
		return nil
	})
}

const backupRestoreHelp = `Make a data directory from a backup. The directory must not contain filters; nothing is
overwritten. Start the node with umbel serve --data DIRECTORY.`

func backupRestoreCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "restore FILE --data DIRECTORY", Short: "make a data directory from a backup", Long: backupRestoreHelp,
		Example: "  umbel backup restore monday.backup --data fresh && umbel serve --data fresh",
		Args:    cli.Arguments(1, 1), DisableFlagsInUseLine: true,
	}
	o := new(restoreOptions)
	cmd.Flags().StringVar(&o.data, "data", "", "data `DIRECTORY` to make")
	cli.Required(cmd, "data", "give the directory to make: --data DIRECTORY")
	return cli.Verb(cmd, o.run)
}

// restoreOptions are the flags of umbel backup restore.
type restoreOptions struct{ data string }

func (o *restoreOptions) run(ctx context.Context, streams *cli.Streams, args []string) error {
	return withBackup(streams, args[0], func(r io.Reader) error {
		found, err := node.RestoreDir(ctx, o.data, logger(streams, node.DefaultConfig()), r)
		if err != nil {
			return err
		}
		return streams.Answer(newFindings(found), newFindings(found).Write)
	})
}

// withBackup calls f with the backup in a file; "-" is standard input.
func withBackup(streams *cli.Streams, name string, f func(io.Reader) error) error {
	if name == "-" {
		return f(bufio.NewReader(streams.In))
	}
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	err = f(bufio.NewReaderSize(file, 1<<20))
	if errors.Is(err, umbel.ErrCorrupt) {
		return fmt.Errorf("%s: %w", name, err)
	}
	return err
}

package nodes

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
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

const backupHelp = `Write all filters of a node to one file. With --addr the node keeps running; otherwise the data
directory must not be in use by a node. umbel verify checks the file, umbel restore makes a
data directory of it. Only the owner can read the file, because it contains secret seeds. An
existing file is replaced only with --force.`

const backupExample = `  umbel backup --addr 127.0.0.1:8780 -o monday.backup
  umbel backup --data umbel-data -o /dev/stdout | zstd > monday.backup.zst`

func BackupCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "backup -o FILE",
		Short:   "write all filters of a node to a file",
		Long:    backupHelp,
		Example: backupExample,
		Args:    cli.NoArguments,
	}
	data := cmd.Flags().String("data", "umbel-data", "data `directory` of a stopped node")
	output := cli.AddOutputFlag(cmd, "`FILE` to write", cli.OutputFlag{Fetches: true, Keep: true})
	cli.Required(cmd, "output", cli.ErrNoOutput.Error())
	cli.AddAddrFlags(cmd)
	cli.Exclusive(cmd, cli.AddrFlag, "data")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		n, err := cli.Dial(cmd)
		if err != nil {
			return err
		}
		if cmd.Flags().Changed("data") {
			n = nil // --data overrides UMBEL_ADDR
		}
		replace := atomicfile.CreateSecret
		if cmd.Flags().Changed("force") {
			replace = atomicfile.WriteSecret
		}
		written, err := cli.WriteFileWith(cmd, replace, *output, -1, func(w io.Writer) error {
			if n != nil {
				return n.Backup(cmd.Context(), func(in io.Reader) error { return backup.Copy(w, in) })
			}
			settings := node.DefaultConfig()
			settings.Data = *data
			return node.Backup(cmd.Context(), settings, logger(settings), w)
		})
		if errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("%s exists; choose another file, or replace it with --force", *output)
		}
		if err != nil {
			return err
		}
		if cli.IsQuiet(cmd) {
			return nil
		}
		return cli.Report(cmd, *output, backupInfo{*output, written}, func(w io.Writer) error {
			name := *output
			if name == "-" {
				name = "standard output"
			}
			_, err := fmt.Fprintf(w, "%s: %v bytes\n", name, quantity.Count(written))
			return err
		})
	}
	return cmd
}

type backupInfo struct {
	File  string `json:"file"`
	Bytes uint64 `json:"bytes"`
}

const verifyHelp = `Read a backup as a node would at its start, in memory, and describe its contents. The exit code
is 0 if it is undamaged, no filter in it had lost data before, and no names of filters were missing.

If FILE is a filter, read it completely and compare its checksum. The verbs that query a large filter read only the
cells that they need, so that they don't find damage elsewhere.`

type verifiedFilter struct {
	File string `json:"file"`
	Kind string `json:"kind"`
}

// verifyFilter verifies the filter in a file.
func verifyFilter(cmd *cobra.Command, path string) error {
	kind, err := container.Verify(path)
	if err != nil {
		return err
	}
	return cli.Answer(cmd, verifiedFilter{path, kind}, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s: undamaged filter of kind %s\n", path, kind)
		return err
	})
}

func VerifyCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "verify FILE",
		Short:   "check a backup or a filter",
		Long:    verifyHelp,
		Example: "  umbel verify monday.backup\n  umbel verify words.umb",
		Args:    cli.Arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if container.IsFile(args[0]) {
				return verifyFilter(cmd, args[0])
			}
			return withBackup(cmd, args[0], func(r io.Reader) error {
				found, err := node.VerifyFile(cmd.Context(), r)
				if err != nil {
					return err
				}
				if err := cli.Answer(cmd, newFindings(found), newFindings(found).Write); err != nil {
					return err
				}
				switch {
				case found.Incomplete > 0:
					return fmt.Errorf("%s is undamaged, but %d of its filters had lost data before the backup", args[0], found.Incomplete)
				case found.Missing != nil:
					return fmt.Errorf("%s is undamaged, but the node had lost filters before the backup, and the loss was not acknowledged", args[0])
				}
				return nil
			})
		},
	}
}

const restoreHelp = `Make a data directory from a backup. The directory must not contain filters; nothing is
overwritten. Start the node with umbel serve --data DIRECTORY.`

func RestoreCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "restore FILE --data DIRECTORY",
		Short:   "make a data directory from a backup",
		Long:    restoreHelp,
		Example: "  umbel restore monday.backup --data fresh && umbel serve --data fresh",
		Args:    cli.Arguments(1, 1),
	}
	data := cmd.Flags().String("data", "", "data `directory` to make")
	cli.Required(cmd, "data", "give the directory to make: --data DIRECTORY")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return withBackup(cmd, args[0], func(r io.Reader) error {
			log := node.NewLogger(os.Stderr, "auto", slog.LevelWarn)
			found, err := node.RestoreDir(cmd.Context(), *data, log, r)
			if err != nil {
				return err
			}
			return cli.Answer(cmd, newFindings(found), newFindings(found).Write)
		})
	}
	return cmd
}

// withBackup calls f with the backup in a file; "-" is standard input.
func withBackup(cmd *cobra.Command, name string, f func(io.Reader) error) error {
	if name == "-" {
		return f(bufio.NewReader(cmd.InOrStdin()))
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

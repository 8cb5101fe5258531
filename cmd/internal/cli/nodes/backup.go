package nodes

import (
	"bufio"
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
	data := cmd.Flags().String("data", "umbel-data", "data `DIRECTORY` of a stopped node")
	output := cli.AddOutputFlag(cmd, "`FILE` to write", cli.OutputFlag{Fetches: true, Keep: true})
	cli.Required(cmd, "output", cli.ErrNoOutput.Error())
	cli.AddAddrFlags(cmd)
	cli.Exclusive(cmd, cli.AddrFlag, "data")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return makeBackup(cmd, *data, *output) }
	return cmd
}

// makeBackup writes the backup of a node, or of the data directory data, to the file output.
func makeBackup(cmd *cobra.Command, data, output string) error {
	n, err := cli.Dial(cmd)
	if err != nil {
		return err
	}
	source := func(w io.Writer) error {
		return n.Backup(cmd.Context(), func(in io.Reader) error { return backup.Copy(w, in) })
	}
	if n == nil || cmd.Flags().Changed("data") { // which overrides UMBEL_ADDR
		settings := node.DefaultConfig()
		settings.Data = data
		source = func(w io.Writer) error { return node.Backup(cmd.Context(), settings, logger(settings), w) }
	}
	replace := atomicfile.CreateSecret
	if cmd.Flags().Changed("force") {
		replace = atomicfile.WriteSecret
	}
	written, err := cli.WriteFileWith(cmd, replace, output, -1, source)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists; choose another file, or replace it with --force", output)
	}
	if err != nil || cli.IsQuiet(cmd) {
		return err
	}
	return cli.Report(cmd, output, backupInfo{output, written}, func(w io.Writer) error {
		name := output
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
	return &cobra.Command{
		Use: "verify FILE", Short: "check a backup", Long: backupVerifyHelp, Example: "  umbel backup verify monday.backup",
		Args: cli.Arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error { return verifyBackup(cmd, args[0]) },
	}
}

// verifyBackup prints the contents of a backup, and returns an error if it or the node before it has lost data.
func verifyBackup(cmd *cobra.Command, file string) error {
	if container.IsFile(file) {
		return fmt.Errorf("%s is a filter and no backup; umbel verify checks it", file)
	}
	return withBackup(cmd, file, func(r io.Reader) error {
		found, err := node.VerifyFile(cmd.Context(), r)
		if err != nil {
			return err
		}
		if err := cli.Answer(cmd, newFindings(found), newFindings(found).Write); err != nil {
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
	data := cmd.Flags().String("data", "", "data `DIRECTORY` to make")
	cli.Required(cmd, "data", "give the directory to make: --data DIRECTORY")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return withBackup(cmd, args[0], func(r io.Reader) error {
			found, err := node.RestoreDir(cmd.Context(), *data, logger(node.DefaultConfig()), r)
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

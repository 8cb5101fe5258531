package nodes

import (
	"io"
	"log/slog"
	"os"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/cli/table"
	"github.com/umbel-filters/umbel/cmd/internal/node"
)

const serveHelp = `Run a node. It keeps filters in memory and on disk, and serves clients of Redis and HTTP; see
docs/node.md. Without flags it listens on 127.0.0.1 and keeps its data in ./umbel-data.

Each flag can also be set in a file (--config) or in the environment: --max-memory is
UMBEL_MAX_MEMORY. umbel node config prints the settings in effect.

SIGTERM and ^C stop it after the commands of clients are answered and written; a second one
stops it at once. SIGHUP reloads users, certificates, the log level and limits.`

const serveReference = `With --check it reads all data on disk, prints what a start would find, and exits. The exit
code is 0 if a start with the same flags would succeed. A --data without data is an error, since
it may be mistyped. It also reads the previous snapshot, which a start needs only if the last
one is damaged, and prints the least --max-disk for the filters if they need a higher one. With --accept-loss it also prints what would be lost and
which filters would become incomplete, and whether names would be missing.`

const serveExample = `  umbel serve
  umbel serve --data /var/lib/umbel --durability everysec --max-memory 8GiB
  redis-cli -p 6380 BF.ADD users alice
  umbel serve --check`

// ServeCommand is umbel serve.
func ServeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "serve", Short: "run a node that serves Redis and HTTP clients", Long: serveHelp, Example: serveExample, Annotations: cli.Reference(serveReference),
		Args: cli.NoArguments,
	}
	node.Flags(cmd.Flags())
	check := cmd.Flags().Bool("check", false, "only check that a node can start with the data on disk, and change nothing")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		load := func() (node.Config, error) {
			c, _, err := node.LoadConfig(cmd.Flags())
			return c, err
		}
		c, err := load()
		if err != nil {
			return err
		}
		if *check {
			return checkData(cmd, c)
		}
		return node.Run(cmd.Context(), c, load)
	}
	return cmd
}

// checkData prints what a start with the settings c would find on disk.
func checkData(cmd *cobra.Command, c node.Config) error {
	found, maxDisk, err := node.Check(cmd.Context(), c, logger(c))
	if err != nil {
		return err
	}
	f := newFindings(found)
	f.LeastMaxDisk, f.maxDisk = maxDisk, uint64(c.MaxDisk)
	return cli.Answer(cmd, f, f.Write)
}

// logger is the logger of a verb that works on a node's files.
func logger(c node.Config) *slog.Logger {
	return node.NewLogger(os.Stderr, c.LogFormat, slog.LevelWarn)
}

const configHelp = `Print the settings with which umbel serve would start, and the origin of each: a flag, the
environment, the file of --config, or the default. It has the flags of umbel serve, and prints
the error with which umbel serve would fail.`

const configExample = `  umbel node config --config /etc/umbel/umbel.yaml
  UMBEL_DURABILITY=everysec umbel node config --json | jq 'select(.from != "default")'`

// setting is a line of umbel node config.
type setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	From  string `json:"from"`
}

func configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "config", Short: "print the settings of a node and their origins", Long: configHelp, Example: configExample,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return printConfig(cmd) },
	}
	node.Flags(cmd.Flags())
	return cmd
}

// printConfig prints the settings in effect, and returns the error with which a node would not start with them.
func printConfig(cmd *cobra.Command) error {
	c, origins, err := node.LoadConfig(cmd.Flags())
	if err != nil {
		return err
	}
	list := make([]setting, len(origins))
	t := table.New("setting", "value", "from")
	for i, o := range origins {
		list[i] = setting{o.Name, o.Value, o.From}
		t.Row(o.Name, o.Value, o.From)
	}
	if err := cli.AnswerAll(cmd, list, func(w io.Writer) error {
		_, err := t.WriteTo(w)
		return err
	}); err != nil {
		return err
	}
	return c.Validate()
}

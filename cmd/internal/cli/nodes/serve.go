package nodes

import (
	"context"
	"io"
	"log/slog"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/cli/table"
	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog"
	"github.com/umbel-filters/umbel/cmd/internal/node"
	"github.com/umbel-filters/umbel/cmd/internal/report"
)

const serveHelp = `Run a node. It keeps filters in memory and on disk, and serves clients of Redis and HTTP; see
docs/node.md. Without flags it listens on 127.0.0.1 and keeps its data in ./umbel-data.

Each flag can also be set in a file (--config) or in the environment: --max-memory is
UMBEL_MAX_MEMORY. umbel node config prints the settings in effect.

SIGTERM and ^C stop it after the commands of clients are answered and written; a second one
stops it at once. SIGHUP reloads users, certificates, the slot map, the log level and limits.`

const serveReference = `With --check it reads all data on disk, prints what a start would find, and exits. The exit
code is 0 if a start with the same flags would succeed. A --data without data is an error, since
it may be mistyped. It also reads the previous snapshot, which a start needs only if the last
one is damaged, and prints the least --max-disk for the filters if they need a higher one. With --accept-loss it also prints what would be lost and
which filters would become incomplete, and whether names would be missing.`

const serveExample = `  umbel serve
  umbel serve --data /var/lib/umbel --durability everysec --max-memory 8GiB
  redis-cli -p 6380 BF.ADD users alice
  umbel serve --check`

// ServeCommand is umbel serve. A group of nodes can keep its log where logs says.
func ServeCommand(logs sharedlog.Openers) *cobra.Command {
	cmd := &cobra.Command{
		Use: "serve", Short: "run a node that serves Redis and HTTP clients", Long: serveHelp, Example: serveExample, Annotations: cli.Reference(serveReference),
		Args: cli.NoArguments,
	}
	node.Flags(cmd.Flags())
	o := &serveOptions{flags: cmd.Flags(), logs: logs}
	cmd.Flags().BoolVar(&o.check, "check", false, "only check that a node can start with the data on disk, and change nothing")
	return cli.Verb(cmd, o.run)
}

// serveOptions are the flags of umbel serve. The settings are in flags, a file and the environment.
type serveOptions struct {
	flags *pflag.FlagSet
	logs  sharedlog.Openers
	check bool
}

func (o *serveOptions) run(ctx context.Context, streams *cli.Streams, _ []string) error {
	load := func() (node.Config, error) {
		c, _, err := node.LoadConfig(o.flags)
		c.Logs = o.logs
		return c, err
	}
	c, err := load()
	if err != nil {
		return err
	}
	if o.check {
		return checkData(ctx, streams, c)
	}
	return node.Run(ctx, streams.Err, c, load)
}

// checkData prints what a start with the settings c would find on disk.
func checkData(ctx context.Context, streams *cli.Streams, c node.Config) error {
	found, maxDisk, err := node.Check(ctx, c, logger(streams, c))
	if err != nil {
		return err
	}
	f := newFindings(found)
	f.LeastMaxDisk, f.maxDisk = maxDisk, uint64(c.MaxDisk)
	return streams.Answer(f, f.Write)
}

// logger is the logger of a verb that works on a node's files.
func logger(streams *cli.Streams, c node.Config) *slog.Logger {
	return report.New(streams.Err, c.LogFormat, slog.LevelWarn)
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
	}
	node.Flags(cmd.Flags())
	return cli.Verb(cmd, (&serveOptions{flags: cmd.Flags()}).print)
}

// print prints the settings.
func (o *serveOptions) print(_ context.Context, streams *cli.Streams, _ []string) error {
	c, origins, err := node.LoadConfig(o.flags)
	if err != nil {
		return err
	}
	list := make([]setting, len(origins))
	t := table.New("setting", "value", "from")
	for i, o := range origins {
		list[i] = setting{o.Name, o.Value, o.From}
		t.Row(o.Name, o.Value, o.From)
	}
	if err := cli.AnswerAll(streams, list, func(w io.Writer) error {
		_, err := t.WriteTo(w)
		return err
	}); err != nil {
		return err
	}
	return c.Validate()
}

package nodes

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/cli/table"
	"github.com/umbel-filters/umbel/cmd/internal/durable/store"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/node"
)

const serveHelp = `Run a node. It keeps filters in memory and on disk, and serves clients of Redis and HTTP; see
docs/node.md. Without flags it listens on 127.0.0.1 and keeps its data in ./umbel-data.

Each flag can also be set in a file (--config) or in the environment: --max-memory is
UMBEL_MAX_MEMORY. umbel config prints the settings in effect.

SIGTERM and ^C stop it after the commands of clients are answered and written; a second one
stops it at once. SIGHUP reloads users, certificates, the log level and limits.

With --check it reads all data on disk, prints what a start would find, and exits. The exit
code is 0 if a start with the same flags would succeed. A --data without data is an error, since
it may be mistyped. It also reads the previous snapshot, which a start needs only if the last
one is damaged, and prints the least --max-disk for the filters if they need a higher one. With --accept-loss it also prints what would be lost and
which filters would become incomplete, and whether names would be missing.`

const serveExample = `  umbel serve
  umbel serve --data /var/lib/umbel --durability everysec --max-memory 8GiB
  redis-cli -p 6380 BF.ADD users alice
  umbel serve --check`

func ServeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "serve",
		Short:   "run a node that serves Redis and HTTP clients",
		Long:    serveHelp,
		Example: serveExample,
		Args:    cli.NoArguments,
	}
	node.Flags(cmd.Flags())
	check := cmd.Flags().Bool("check", false, "check the data on disk and exit; change nothing")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, _, err := node.LoadConfig(cmd.Flags())
		if err != nil {
			return err
		}
		if *check {
			found, maxDisk, err := node.Check(cmd.Context(), c, logger(c))
			if err != nil {
				return err
			}
			f := newFindings(found)
			f.LeastMaxDisk, f.maxDisk = maxDisk, uint64(c.MaxDisk)
			return cli.Answer(cmd, f, f.Write)
		}
		return node.Run(cmd.Context(), c, func() (node.Config, error) {
			c, _, err := node.LoadConfig(cmd.Flags())
			return c, err
		})
	}
	return cmd
}

// logger is the logger of a verb that works on a node's files.
func logger(c node.Config) *slog.Logger {
	return node.NewLogger(os.Stderr, c.LogFormat, slog.LevelWarn)
}

// findings is the contents of a data directory or a backup.
type findings struct {
	Filters  int        `json:"filters"`
	Bytes    uint64     `json:"bytes"`
	Snapshot *time.Time `json:"snapshot"` // null for none
	Batches  uint64     `json:"batches"`
	Changes  uint64     `json:"changes"`
	Digests  uint64     `json:"digests"`
	Seconds  float64    `json:"seconds"`
	Torn     string     `json:"torn,omitempty"`
	Lost     []string   `json:"lost"`
	Damaged  []string   `json:"damaged,omitempty"` // and not needed now

	Incomplete      int      `json:"incomplete"`
	IncompleteNames []string `json:"incompleteNames"`

	Missing *api.Missing `json:"missingNames,omitempty"`

	LeastMaxDisk uint64 `json:"leastMaxDisk,omitempty"` // that the filters need; of a data directory only
	maxDisk      uint64
}

func newFindings(r store.Report) findings {
	f := findings{
		Filters: r.Filters, Bytes: r.Bytes, Batches: r.Batches, Changes: r.Changes, Digests: r.Digests,
		Seconds: r.Took.Seconds(), Torn: r.Torn, Lost: append([]string{}, r.Lost...), Damaged: r.Damaged,
		Incomplete: r.Incomplete, IncompleteNames: append([]string{}, r.IncompleteNames...),
	}
	if m := r.Missing; m != nil {
		f.Missing = &api.Missing{Since: m.Time(), Batches: m.Batches}
	}
	if !r.Snapshot.IsZero() {
		f.Snapshot = &r.Snapshot
	}
	return f
}

func (f findings) Write(w io.Writer) error {
	t := table.New("", "")
	t.Row("filters", fmt.Sprintf("%v, %v", quantity.Count(f.Filters), quantity.Size(f.Bytes)))
	if f.Snapshot != nil {
		t.Row("snapshot", f.Snapshot.UTC().Format(time.RFC3339))
	}
	t.Row("log since", fmt.Sprintf("%s, %s, %s", quantity.Count(f.Batches).Of("batch"), quantity.Count(f.Changes).Of("change"), quantity.Count(f.Digests).Of("key")))
	t.Row("took", time.Duration(f.Seconds*float64(time.Second)).Round(time.Millisecond).String())
	if f.maxDisk > 0 && f.maxDisk < f.LeastMaxDisk {
		t.Row("max-disk", fmt.Sprintf("%v is too small for the filters, which need at least %v; changes may be refused", quantity.Size(f.maxDisk), quantity.Size(f.LeastMaxDisk).RoundUp()))
	}
	if f.Torn != "" {
		t.Row("torn end", f.Torn)
	}
	for _, lost := range f.Lost {
		t.Row("lost", lost)
	}
	for _, damaged := range f.Damaged {
		t.Row("damaged", damaged)
	}
	if f.Incomplete > 0 {
		t.Row("incomplete", fmt.Sprintf("%v; queries of these filters return true until they are created again:", quantity.Count(f.Incomplete)))
		for _, name := range f.IncompleteNames {
			t.Row("", cli.NameWords(name))
		}
		if more := f.Incomplete - len(f.IncompleteNames); more > 0 {
			t.Row("", fmt.Sprintf("and %v more", quantity.Count(more)))
		}
	}
	if f.Missing != nil {
		t.Row("missing", missingText(*f.Missing))
	}
	_, err := t.WriteTo(w)
	return err
}

const configHelp = `Print the settings with which umbel serve would start, and the origin of each: a flag, the
environment, the file of --config, or the default. It has the flags of umbel serve, and prints
the error with which umbel serve would fail.`

const configExample = `  umbel config --config /etc/umbel/umbel.yaml
  UMBEL_DURABILITY=everysec umbel config --json | jq 'select(.from != "default")'`

// setting is a line of umbel config.
type setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	From  string `json:"from"`
}

func ConfigCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "config",
		Short:   "print the settings of a node and their origins",
		Long:    configHelp,
		Example: configExample,
		Args:    cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, origins, err := node.LoadConfig(cmd.Flags())
			if err != nil {
				return err
			}
			list := make([]setting, len(origins))
			for i, o := range origins {
				list[i] = setting{o.Name, o.Value, o.From}
			}
			if err := cli.AnswerAll(cmd, list, func(w io.Writer) error {
				t := table.New("setting", "value", "from")
				for _, s := range list {
					t.Row(s.Name, s.Value, s.From)
				}
				_, err := t.WriteTo(w)
				return err
			}); err != nil {
				return err
			}
			return c.Validate()
		},
	}
	node.Flags(cmd.Flags())
	return cmd
}

package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/umbel-filters/umbel/cmd/internal/node"
	"github.com/umbel-filters/umbel/cmd/internal/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/store"
	"github.com/umbel-filters/umbel/cmd/internal/table"
)

const serveHelp = `Keep filters in memory and on disk, and answer clients of Redis and of HTTP: docs/node.md.
Without flags it listens on this machine alone and keeps its data in ./umbel-data.

Each flag can be set in a file (--config) and in the environment too: --max-memory is
UMBEL_MAX_MEMORY. umbel config prints what is in force.

SIGTERM and ^C end it once clients' commands are answered and written; a second one at
once. On SIGHUP it reads users, certificates, the log level and limits again.

With --check it reads all that is on the disk, says what a start would find, and ends.
The exit code is 0 if nothing is lost.`

const serveExample = `  umbel serve
  umbel serve --data /var/lib/umbel --durability everysec --max-memory 8GiB
  redis-cli -p 6380 BF.ADD users alice
  umbel serve --check`

func serveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "serve",
		Short:   "serve filters to clients of Redis and HTTP",
		Long:    serveHelp,
		Example: serveExample,
		Args:    noArguments,
	}
	node.Flags(cmd.Flags())
	check := cmd.Flags().Bool("check", false, "say what a start would find, and change nothing")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, _, err := node.LoadConfig(cmd.Flags())
		if err != nil {
			return err
		}
		if *check {
			found, err := node.Check(cmd.Context(), c, logger(c))
			if err != nil {
				return err
			}
			return answer(cmd, newFindings(found), newFindings(found).write)
		}
		return node.Run(cmd.Context(), c, func() (node.Config, error) {
			c, _, err := node.LoadConfig(cmd.Flags())
			return c, err
		})
	}
	return cmd
}

// logger is that of a verb that works on a node's files.
func logger(c node.Config) *slog.Logger {
	return node.NewLogger(os.Stderr, c.LogFormat, slog.LevelWarn)
}

// findings is what there is in a data directory, or in a backup.
type findings struct {
	Filters  int        `json:"filters"`
	Bytes    uint64     `json:"bytes"`
	Snapshot *time.Time `json:"snapshot"` // null if there is none
	Batches  uint64     `json:"batches"`
	Changes  uint64     `json:"changes"`
	Digests  uint64     `json:"digests"`
	Seconds  float64    `json:"seconds"`
	Torn     string     `json:"torn,omitempty"`
	Lost     []string   `json:"lost"`
}

func newFindings(r store.Report) findings {
	f := findings{
		Filters: r.Filters, Bytes: r.Bytes, Batches: r.Batches, Changes: r.Changes, Digests: r.Digests,
		Seconds: r.Took.Seconds(), Torn: r.Torn, Lost: append([]string{}, r.Lost...),
	}
	if !r.Snapshot.IsZero() {
		f.Snapshot = &r.Snapshot
	}
	return f
}

func (f findings) write(w io.Writer) error {
	t := table.New("", "")
	t.Row("filters", fmt.Sprintf("%v, %v", quantity.Count(f.Filters), quantity.Size(f.Bytes)))
	if f.Snapshot != nil {
		t.Row("snapshot", f.Snapshot.Format(time.RFC3339))
	}
	t.Row("log since", fmt.Sprintf("%v batches, %v changes, %v keys", quantity.Count(f.Batches), quantity.Count(f.Changes), quantity.Count(f.Digests)))
	t.Row("took", time.Duration(f.Seconds*float64(time.Second)).Round(time.Millisecond).String())
	if f.Torn != "" {
		t.Row("torn end", f.Torn)
	}
	for _, lost := range f.Lost {
		t.Row("lost", lost)
	}
	_, err := t.WriteTo(w)
	return err
}

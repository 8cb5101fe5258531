package publications

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/cli/filters"
	"github.com/umbel-filters/umbel/cmd/internal/cli/table"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/node"
	"github.com/umbel-filters/umbel/cmd/internal/publish/replica"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/share/dir"
	"github.com/umbel-filters/umbel/wire"
)

const peersHelp = `Print the publications that a replica (umbel subscribe) follows: their versions, how old they are, and
what their updates cost. Without --addr it uses the replica at 127.0.0.1:8780.

With --source or --config the publications are updated once by this command, without a replica. It keeps
their versions in the directory --cache, as a replica does.

The columns: version; age since its head was signed; the factor, if a fold of the filter is followed;
keys (estimate); false-positive rate of the version; memory of the filter; bytes fetched, resyncs (ways
to a version that failed, after which another was tried) and failed updates since the start of the
replica; the state; and the error of the last update, if one failed. A version is exact while its head is valid, and
stale afterwards; a publication without a version is waiting.

The exit code is 3 if a publication is not exact.`

const peersExample = `  umbel peers
  umbel peers --addr replica.example:8780 --json
  umbel peers --config peers.yaml --cache /var/cache/umbel-peers
  umbel peers --source a=https://a.example/have --public-key a.pub --source b=https://b.example/have --public-key b.pub`

// followed are the publications of umbel peers: on a replica, or in this process.
type followed interface {
	list(ctx context.Context) ([]api.Subscription, error)
	owners(ctx context.Context, keys []string) (api.Owners, error)
	close() error
}

func PeersCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "peers",
		Short:   "print the publications that a replica follows",
		Long:    peersHelp,
		Example: peersExample,
		Args:    cli.NoArguments,
	}
	open := addPeersFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		f, err := open(cmd)
		if err != nil {
			return err
		}
		list, err := f.list(cmd.Context())
		if err := errors.Join(err, f.close()); err != nil {
			return err
		}
		if err := cli.Answer(cmd, api.SubscriptionList{Subscriptions: list}, func(w io.Writer) error { return writePeers(w, list) }); err != nil {
			return err
		}
		others := 0
		for _, s := range list {
			if s.State != api.SubscriptionExact {
				others++
			}
		}
		if others > 0 {
			return cli.WithCode(cli.ExitStale, fmt.Errorf("%d of %d publications are not exact", others, len(list)))
		}
		return nil
	}
	cmd.AddCommand(peersHasCommand())
	return cmd
}

// addPeersFlags adds the flags that name the publications, and returns a function that opens them.
func addPeersFlags(cmd *cobra.Command) func(cmd *cobra.Command) (followed, error) {
	flags := cmd.Flags()
	sources := flags.StringArray("source", nil, "`[NAME=]SOURCE` of a publication: its URL or directory; may be repeated")
	keys := flags.StringArray("public-key", nil, "public `KEY` of the publication, or a file that contains it; once for each source")
	config := flags.String("config", "", "YAML `file` with subscriptions, as for umbel subscribe")
	cache := flags.String("cache", "umbel-cache", "`directory` that keeps the versions for the next run")
	cli.AddAddrFlags(cmd)
	return func(cmd *cobra.Command) (followed, error) {
		if len(*sources) == 0 && *config == "" {
			n, err := cli.DialOrLocal(cmd)
			return remotePeers{n}, err
		}
		if flags.Lookup(cli.AddrFlag).Changed {
			return nil, cli.UsageError(cmd, errors.New("--addr uses the publications of a replica; it can't be combined with --source and --config"))
		}
		list, err := subscriptionsOf(*sources, *keys)
		if err != nil {
			return nil, cli.UsageError(cmd, err)
		}
		if *config != "" {
			more, err := node.ReadSubscriptions(*config)
			if err != nil {
				return nil, err
			}
			list = slices.Concat(more, list)
		}
		return openPeers(cmd, list, *cache)
	}
}

// openPeers opens publications and updates each once.
func openPeers(cmd *cobra.Command, list replica.List, cache string) (followed, error) {
	cli.Interruptible(cmd)
	for i := range list {
		list[i].BytesPerSecond = 0 // an average over many updates; this is one
	}
	all, err := openSources(cmd, list, node.Config{})
	if err != nil {
		return nil, err
	}
	set, err := replica.Open(cmd.Context(), replica.Options{
		Engine:       engine.New(engine.Options{Kinds: filter.All, Now: func() int64 { return time.Now().UnixMilli() }, ReadOnly: engine.ErrReplica}),
		Publications: all, Cache: cache, Stale: share.StaleLast, Limits: wire.Limits{Bytes: fetchLimits().Bytes},
		Log: node.NewLogger(os.Stderr, "text", slog.LevelError),
	})
	if errors.Is(err, dir.ErrLocked) {
		return nil, fmt.Errorf("%w; if it is a replica, umbel peers --addr uses what it has", err)
	}
	if err != nil {
		return nil, err
	}
	set.Update(cmd.Context())
	return localPeers{set}, nil
}

// writePeers prints publications as a table.
func writePeers(w io.Writer, list []api.Subscription) error {
	failed := ""
	if slices.ContainsFunc(list, func(s api.Subscription) bool { return s.Error != "" }) {
		failed = "Last error"
	}
	t := table.New("Filter", " Version", " Age", " Fold", " Keys", " Rate", " Size", " Fetched", " Resyncs", " Failures", "State", failed)
	for _, s := range list {
		row := []string{cli.NameWords(s.Filter), "", "", "", "", "", ""}
		if s.Version > 0 {
			age, fold := time.Duration(s.AgeSeconds*float64(time.Second)).Round(time.Second), ""
			if s.Fold > 1 {
				fold = quantity.Count(s.Fold).String()
			}
			row = []string{cli.NameWords(s.Filter), quantity.Count(s.Version).String(), age.String(), fold, filters.WholeKeys(float64(s.Keys)), cli.RateOf(float64(s.FPRate)), quantity.Size(s.Bytes).String()}
		}
		t.Row(append(row, quantity.Size(s.FetchedBytes).String(), quantity.Count(s.Resyncs).String(), quantity.Count(s.Failures).String(), cli.PaintState(s.State), s.Error)...)
	}
	_, err := t.WriteTo(w)
	return err
}

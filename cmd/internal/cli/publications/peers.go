package publications

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/cli/filters"
	"github.com/umbel-filters/umbel/cmd/internal/cli/table"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/http/remote"
	"github.com/umbel-filters/umbel/cmd/internal/node"
	"github.com/umbel-filters/umbel/cmd/internal/publish/replica"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/share/dir"
	"github.com/umbel-filters/umbel/wire"
)

const peersHelp = `Print the publications that a replica follows: their versions, how old they are, and
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

// PeersCommand is umbel peers.
func PeersCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "peers", Short: "print the publications that a replica follows", Long: peersHelp, Example: peersExample,
		Args: cli.NoArguments,
	}
	o := new(peersOptions)
	o.add(cmd)
	cmd.AddCommand(peersHasCommand())
	return cli.Verb(cmd, o.print)
}

// peers prints the publications.
func (o *peersOptions) print(ctx context.Context, streams *cli.Streams, _ []string) error {
	if o.node.Addr == "" {
		ctx = streams.Interruptible(ctx)
	}
	f, err := o.open(ctx, streams)
	if err != nil {
		return err
	}
	list, err := f.list(ctx)
	if err := errors.Join(err, f.close()); err != nil {
		return err
	}
	if err := streams.Answer(api.SubscriptionList{Subscriptions: list}, func(w io.Writer) error { return writePeers(w, list) }); err != nil {
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

// peersOptions are the flags that name the publications.
type peersOptions struct {
	sources, keys []string
	config, cache string
	node          cli.Node
	given         cli.Given
}

func (o *peersOptions) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&o.sources, "source", nil, "`[NAME=]SOURCE` of a publication: its URL or directory; may be repeated")
	flags.StringArrayVar(&o.keys, "public-key", nil, "public `KEY` of the publication, or a file that contains it; once for each source")
	flags.StringVar(&o.config, "config", "", "YAML `FILE` with settings, as for umbel replica; its subscriptions are used")
	flags.StringVar(&o.cache, "cache", "umbel-versions", "`DIRECTORY` that keeps the versions for the next run")
	cli.AddAddrFlags(cmd, &o.node)
	o.given = cli.GivenFlags(cmd)
}

// open returns the publications of a replica or, with sources, opens them.
func (o *peersOptions) open(ctx context.Context, streams *cli.Streams) (followed, error) {
	if len(o.sources) == 0 && o.config == "" {
		n, err := o.node.DialOrLocal(streams)
		return remotePeers{n}, err
	}
	if o.given[cli.AddrFlag] {
		return nil, cli.UsageError(errors.New("--addr uses the publications of a replica; it can't be combined with --source and --config"))
	}
	list, err := subscriptionsOf(o.sources, o.keys)
	if err != nil {
		return nil, cli.UsageError(err)
	}
	if o.config != "" {
		more, err := node.ReadSubscriptions(o.config)
		if err != nil {
			return nil, err
		}
		list = slices.Concat(more, list)
	}
	return o.openPeers(ctx, streams, list)
}

// openPeers opens publications and updates each once.
func (o *peersOptions) openPeers(ctx context.Context, streams *cli.Streams, list replica.List) (followed, error) {
	for i := range list {
		list[i].BytesPerSecond = 0 // an average over many updates; this is one
	}
	all, err := openSources(o.node, list, replica.DefaultPeriod)
	if err != nil {
		return nil, err
	}
	set, err := replica.Open(ctx, replica.Options{
		Engine:       engine.New(engine.Options{Kinds: filter.All, Now: func() int64 { return time.Now().UnixMilli() }, ReadOnly: engine.ErrReplica}),
		Publications: all, Cache: o.cache, Stale: share.StaleLast, Limits: wire.Limits{Bytes: fetchLimits().Bytes},
		Log: slog.New(errorsOnly{streams.Log.Handler()}),
	})
	if errors.Is(err, dir.ErrLocked) {
		return nil, fmt.Errorf("%w; if it is a replica, umbel peers --addr uses what it has", err)
	}
	if err != nil {
		return nil, err
	}
	set.Update(ctx)
	return localPeers{set}, nil
}

// errorsOnly omits warnings: the list has the error of an update that failed.
type errorsOnly struct{ slog.Handler }

// Enabled implements slog.Handler.
func (h errorsOnly) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelError }

// WithAttrs implements slog.Handler.
func (h errorsOnly) WithAttrs(attrs []slog.Attr) slog.Handler {
	return errorsOnly{h.Handler.WithAttrs(attrs)}
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
			row = []string{cli.NameWords(s.Filter), quantity.Count(s.Version).String(), age.String(), fold,
				filters.WholeKeys(float64(s.Keys)), cli.RateOf(float64(s.FPRate)), quantity.Size(s.Bytes).String()}
		}
		t.Row(append(row, quantity.Size(s.FetchedBytes).String(), quantity.Count(s.Resyncs).String(),
			quantity.Count(s.Failures).String(), cli.PaintState(s.State), s.Error)...)
	}
	_, err := t.WriteTo(w)
	return err
}

// remotePeers are the publications of a replica.
type remotePeers struct{ node *remote.Client }

func (p remotePeers) list(ctx context.Context) ([]api.Subscription, error) {
	return p.node.Subscriptions(ctx)
}

func (p remotePeers) owners(ctx context.Context, keys []string) (api.Owners, error) {
	return p.node.Owners(ctx, keys)
}

func (p remotePeers) close() error { return nil }

// localPeers are publications that this process follows.
type localPeers struct{ set *replica.Set }

func (p localPeers) list(context.Context) ([]api.Subscription, error) { return p.set.List(), nil }

func (p localPeers) owners(_ context.Context, keys []string) (api.Owners, error) {
	all := make([][]byte, len(keys))
	for i, k := range keys {
		all[i] = []byte(k)
	}
	return p.set.Who(all, func(string) bool { return true }), nil
}

func (p localPeers) close() error { return p.set.Close() }

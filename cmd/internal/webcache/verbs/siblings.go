package verbs

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/report"
	"github.com/umbel-filters/umbel/cmd/internal/webcache/sidecar"
	"github.com/umbel-filters/umbel/siblings"
)

const siblingsHelp = `Run a sidecar: the upstream of an HTTP cache, of any program. What reaches it is a miss of the cache. It looks
in the publications of siblings, requests the response from the cache of a sibling that may hold it, and
otherwise from the origin. It publishes what its own cache holds. See docs/siblings.md.

The cache connects to --listen, and sends the requests that it sent to the origin before. --cache-url is the
address of the cache, as siblings reach it. Siblings connect to --listen as well, or to --publish-listen, and
read what is below /.well-known/umbel-siblings/. They need the secret of --secret-file, which all have.

A peer is NAME=URL,KEY or NAME=URL,KEY,ZONE: the address of its sidecar, its public key or a file that
contains it, and how far away it is. Siblings of zone 0 are tried first.

Log messages are on standard error. SIGTERM and ^C stop the sidecar after requests have been answered.`

const siblingsReference = `A Squid needs no sidecar to be a sibling: --squid-peer NAME=URL or NAME=URL,ZONE has the address of its proxy. Its cache
digest takes the place of a publication. With --squid-digest Squids can read what this node publishes, as a cache
digest; cache_peer of squid.conf has the address of the cache, and digest-url= that of this node.

--freshness states how the cache reads the age of a response: age is the standard; nginx needs
x-accel-expires; caches that ignore Age, such as HAProxy, need max-age. If caches change the Host header,
--host has the one of the site.

The log of a cache has what it removed: --squid-store-log is a file of cache_store_log, and --varnish-log a file
or, with -, a pipe with the output of varnishlog -u -g raw -i ExpKill (varnishd needs -p vsl_mask=+ExpKill).
Without them, the next request for a response shows that it was removed.`

const siblingsExample = `  openssl rand -hex 16 > token
  umbel keygen example.org/north
  umbel-cache siblings --origin http://10.0.0.9 --listen 127.0.0.1:8790 --publish-listen 10.0.0.1:8791 \
    --cache-url http://10.0.0.1 --key north.key --secret-file token --freshness x-accel-expires \
    --peer south=http://10.0.0.2:8791,south.pub
  varnishlog -u -g raw -i ExpKill | umbel-cache siblings --varnish-log - --origin http://10.0.0.9 --key north.key --secret-file token`

// siblingsFlags are the flags of umbel-cache siblings.
type siblingsFlags struct {
	meshFlags
	config    sidecar.Config
	origin    string
	freshness string
	logFormat string
	given     cli.Given
}

func siblingsCommand() *cobra.Command {
	f := new(siblingsFlags)
	cmd := &cobra.Command{
		Use:         "siblings --origin URL --key FILE --secret-file FILE",
		Short:       "let an HTTP cache use what sibling caches hold",
		Long:        siblingsHelp,
		Annotations: cli.Reference(siblingsReference),
		Example:     siblingsExample,
		Args:        cli.NoArguments,
	}
	cmd.DisableFlagsInUseLine = true
	flags := cmd.Flags()
	flags.StringVar(&f.config.Listen, "listen", "127.0.0.1:8790", "serve the cache at `HOST:PORT`")
	flags.StringVar(&f.config.Status, "status", "", "serve counters at `HOST:PORT`: text; JSON at /status.json; Prometheus at /metrics")
	flags.StringVar(&f.origin, "origin", "", "`URL` of the origin")
	f.add(cmd)
	flags.StringVar(&f.freshness, "freshness", siblings.FreshnessAge.String(), "`HOW` the cache reads ages: age, x-accel-expires or max-age")
	_ = cmd.RegisterFlagCompletionFunc("freshness", cobra.FixedCompletions([]string{"age", "x-accel-expires", "max-age"}, cobra.ShellCompDirectiveNoFileComp))
	quantity.DurationVar(flags, &f.mesh.Keep, "keep", 0, "publish a response for this `DURATION` at most after it was stored (default for its lifetime)")
	quantity.DurationVar(flags, &f.mesh.ProbePeriod, "probe", 0, "`DURATION` between two probes of the own cache, which notice that it was emptied")
	flags.StringVar(&f.config.SquidStoreLog, "squid-store-log", "", "`FILE` of Squid's cache_store_log")
	flags.StringVar(&f.config.VarnishLog, "varnish-log", "", "`FILE` with the output of varnishlog -u -g raw -i ExpKill, or -")
	cli.AddLogFormatFlag(cmd, &f.logFormat)
	f.given = cli.GivenFlags(cmd)
	cli.Required(cmd, "secret-file", "give the secret of all siblings with --secret-file")
	cli.Required(cmd, "key", "give the private key with --key")
	cli.Required(cmd, "origin", "give the origin with --origin")
	return cli.Verb(cmd, f.run)
}

// run runs the sidecar until a signal ends it.
func (f *siblingsFlags) run(ctx context.Context, streams *cli.Streams, _ []string) error {
	if err := f.complete(streams); err != nil {
		return err
	}
	ctx, stop := streams.SignalContext(ctx)
	defer stop()
	return sidecar.Run(ctx, f.config, func(sidecar.Addresses) {})
}

// complete reads the values and the files of the flags.
func (f *siblingsFlags) complete(streams *cli.Streams) (err error) {
	if streams.JSON && !f.given["log-format"] {
		f.logFormat = "json"
	}
	o := &f.mesh
	o.Log = report.New(streams.Err, f.logFormat, streams.Level())
	if f.config.Origin, err = sidecar.ParseAddress(f.origin); err != nil {
		return cli.UsageError(fmt.Errorf("--origin %w", err))
	}
	if f.cache == "" && (len(f.peers) > 0 || o.ProbePeriod > 0) {
		return cli.UsageError(errors.New("give the address of the cache, as siblings reach it, with --cache-url"))
	}
	if err := cmp.Or(cli.CheckListen("listen", f.config.Listen), cli.CheckListen("status", f.config.Status)); err != nil {
		return err
	}
	if o.Freshness, err = siblings.ParseFreshness(f.freshness); err != nil {
		return cli.UsageError(fmt.Errorf("--freshness %.40q: want age, x-accel-expires or max-age", f.freshness))
	}
	if err := f.meshFlags.complete(); err != nil {
		return err
	}
	f.config.Mesh, f.config.Publish = f.mesh, f.publish
	return nil
}

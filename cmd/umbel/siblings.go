package main

import (
	"errors"
	"fmt"
	"math"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/node"
	"github.com/umbel-filters/umbel/cmd/internal/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/sidecar"
	"github.com/umbel-filters/umbel/cmd/internal/signing"
	"github.com/umbel-filters/umbel/siblings"
)

const siblingsHelp = `Run a sidecar: the upstream of an HTTP cache, of any program. What reaches it is a miss of the cache. It looks
in the publications of siblings, requests the response from the cache of a sibling that may hold it, and
otherwise from the origin. It publishes what its own cache holds. See docs/siblings.md.

The cache connects to --listen, and sends the requests that it sent to the origin before. --cache is the
address of the cache, as siblings reach it. Siblings connect to --listen as well, or to --publish-listen, and
read what is below /.well-known/umbel-siblings/. They need the secret of --token-file, which all have.

A peer is NAME=URL,KEY or NAME=URL,KEY,ZONE: the address of its sidecar, its public key or a file that
contains it, and how far away it is. Siblings of zone 0 are tried first.

--freshness states how the cache reads the age of a response: age is the standard; nginx needs
x-accel-expires; caches that ignore Age, such as HAProxy, need max-age. If caches change the Host header,
--host has the one of the site.

The log of a cache has what it removed: --squid-store-log is a file of cache_store_log, and --varnish-log a file
or, with -, a pipe with the output of varnishlog -u -g raw -i ExpKill (varnishd needs -p vsl_mask=+ExpKill).
Without them, the next request for a response shows that it was removed.

Log messages are on standard error. SIGTERM and ^C stop the sidecar after requests have been answered.`

const siblingsExample = `  openssl rand -hex 16 > token
  umbel keygen example.org/north
  umbel siblings --origin http://10.0.0.9 --listen 127.0.0.1:8790 --publish-listen 10.0.0.1:8791 \
    --cache http://10.0.0.1 --key north.key --token-file token --freshness x-accel-expires \
    --peer south=http://10.0.0.2:8791,south.pub
  varnishlog -u -g raw -i ExpKill | umbel siblings --varnish-log - --origin http://10.0.0.9 --key north.key --token-file token`

// siblingsFlags are the flags of umbel siblings.
type siblingsFlags struct {
	config                    sidecar.Config
	origin, cache, key, token string
	peers, deny               []string
	freshness                 string
	logFormat                 *string
	rate                      quantity.Rate
	maxHeld                   quantity.Count
}

func siblingsCommand() *cobra.Command {
	var f siblingsFlags
	cmd := &cobra.Command{
		Use:     "siblings --origin URL --key FILE --token-file FILE",
		Short:   "let an HTTP cache use what sibling caches hold",
		Long:    siblingsHelp,
		Example: siblingsExample,
		Args:    noArguments,
	}
	cmd.DisableFlagsInUseLine = true
	flags := cmd.Flags()
	flags.StringVar(&f.config.Listen, "listen", "127.0.0.1:8790", "`HOST:PORT` for the cache")
	flags.StringVar(&f.config.Publish, "publish-listen", "", "`HOST:PORT` for siblings (default that of --listen)")
	flags.StringVar(&f.config.Status, "status", "", "`HOST:PORT` of the status page: text, and JSON at /status.json")
	flags.StringVar(&f.origin, "origin", "", "`URL` of the origin")
	flags.StringVar(&f.cache, "cache", "", "`URL` of the cache, as siblings reach it")
	flags.StringVar(&f.key, "key", "", "`FILE` with the private key, made by umbel keygen")
	flags.StringVar(&f.token, "token-file", "", "`FILE` with the secret of all siblings, at least 16 characters")
	flags.StringArrayVar(&f.peers, "peer", nil, "`NAME=URL,KEY` of a sibling; once for each")
	o := &f.config.Mesh
	flags.StringVar(&o.Host, "host", "", "`HOST` of keys and requests, if caches change the Host header")
	flags.StringVar(&f.freshness, "freshness", siblings.FreshnessAge.String(), "`HOW` the cache reads ages: age, x-accel-expires or max-age")
	flags.BoolVar(&o.Cookies, "ignore-cookies", false, "try siblings for requests with cookies too, without these")
	flags.StringSliceVar(&f.deny, "deny-query", nil, "never publish URLs with these parameters in the query, such as `token,signature`")
	flags.DurationVar(&o.Period, "period", time.Second, "time between two versions of the publication")
	flags.DurationVar(&o.Patience, "patience", 40*time.Millisecond, "time that siblings have to answer before the origin is requested")
	flags.VarP(&f.rate, "fpr", "p", "false-positive `RATE` of the publication (default 1%)")
	flags.DurationVar(&o.Keep, "keep", 0, "publish a response for this `TIME` at most after it was stored (default for its lifetime)")
	f.maxHeld = 1_000_000
	flags.Var(&f.maxHeld, "max-held", "publish at most this `NUMBER` of responses")
	flags.DurationVar(&o.ProbePeriod, "probe", 0, "time between two probes of the own cache, which notice that it was emptied")
	flags.StringVar(&f.config.SquidStoreLog, "squid-store-log", "", "`FILE` of Squid's cache_store_log")
	flags.StringVar(&f.config.VarnishLog, "varnish-log", "", "`FILE` with the output of varnishlog -u -g raw -i ExpKill, or -")
	f.logFormat = addLogFormatFlag(cmd)
	flags.Lookup("fpr").DefValue = ""
	required(cmd, "token-file", "give the secret of all siblings with --token-file")
	required(cmd, "key", "give the private key with --key")
	required(cmd, "origin", "give the origin with --origin")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return f.run(cmd) }
	return cmd
}

// run runs the sidecar until a signal ends it.
func (f *siblingsFlags) run(cmd *cobra.Command) error {
	if err := f.complete(cmd); err != nil {
		return err
	}
	ctx, stop := signalContext(cmd)
	defer stop()
	log := f.config.Mesh.Log
	err := sidecar.Run(ctx, f.config, func(a sidecar.Addresses) {
		log.Info("ready", append(a.Attributes(), "origin", f.origin, "peers", len(f.config.Mesh.Peers))...)
	})
	if err == nil {
		log.Info("stopped")
	}
	return err
}

// complete reads the values and the files of the flags.
func (f *siblingsFlags) complete(cmd *cobra.Command) (err error) {
	o := &f.config.Mesh
	if err := checkLogFormat(cmd, *f.logFormat); err != nil {
		return err
	}
	if wantsJSON(cmd) && !cmd.Flags().Changed("log-format") {
		*f.logFormat = "json"
	}
	level := quietLevel(cmd)
	o.Log = node.NewLogger(os.Stderr, *f.logFormat, level)
	if f.config.Origin, err = sidecar.ParseAddress(f.origin); err != nil {
		return usageError(cmd, fmt.Errorf("--origin %w", err))
	}
	if f.cache != "" {
		if o.Cache, err = sidecar.ParseAddress(f.cache); err != nil {
			return usageError(cmd, fmt.Errorf("--cache %w", err))
		}
	} else if len(f.peers) > 0 || o.ProbePeriod > 0 {
		return usageError(cmd, errors.New("give the address of the cache, as siblings reach it, with --cache"))
	}
	if u, err := url.Parse("http://" + o.Host); o.Host != "" && (err != nil || u.Host != o.Host || u.Hostname() == "" || strings.ContainsAny(o.Host, " \t")) {
		return usageError(cmd, fmt.Errorf("--host %.80q: want a host as in the header Host, such as example.org or example.org:8080", o.Host))
	}
	for _, flag := range []string{"listen", "publish-listen", "status"} {
		if err := checkListen(cmd, flag); err != nil {
			return err
		}
	}
	if f.maxHeld == 0 {
		return usageError(cmd, errors.New("--max-held is 0, want at least 1"))
	}
	if o.Freshness, err = siblings.ParseFreshness(f.freshness); err != nil {
		return usageError(cmd, fmt.Errorf("--freshness %.40q: want age, x-accel-expires or max-age", f.freshness))
	}
	o.Rate, o.MaxHeld, o.Deny = float64(f.rate), int(min(f.maxHeld, math.MaxInt32)), siblings.DenyQuery(f.deny)
	for _, p := range f.peers {
		peer, err := sidecar.ParsePeer(p, parsePublicKey)
		if err != nil {
			return usageError(cmd, fmt.Errorf("--peer %w", err))
		}
		o.Peers = append(o.Peers, peer)
	}
	b, err := os.ReadFile(f.token)
	if err != nil {
		return err
	}
	if o.Token, err = sidecar.ParseToken(b); err != nil {
		return fmt.Errorf("%s: %w", f.token, err)
	}
	k, err := signing.Read(f.key)
	o.Key = k.Key
	return err
}

package verbs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/nix/substituter"
	"github.com/umbel-filters/umbel/cmd/internal/service"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/share/dir"
	"github.com/umbel-filters/umbel/wire"
)

const nixServeHelp = `Answer Nix clients for several binary caches. A path that no cache has is answered with status 404 at
once, without a request. For other paths the caches that may have it are requested, in order: siblings first, then
upstreams, as they are given. Write the address into nix.conf: substituters = http://127.0.0.1:8790

A CACHE is URL, or URL=PUBLICATION,KEY with a publication (umbel-nix publish) and its public key, or a file that
contains it. Without a publication the file NixBloom is used, if the nix-cache-info of the cache names one.

A summary counts only while it is current: a publication while its head is valid, and a file NixBloom for --max-age
after the cache has confirmed it. Otherwise the cache is requested for every path.

A cache that fails is left out for one second, then two, up to a minute. A path that it may have is then answered with
status 503 and not 404. A --sibling is a cache that may disappear, such as another machine on the local network: while
it fails, it counts as one without paths.

NARs pass through unchanged, and nothing is kept of them. Nix verifies signatures: the public keys of the caches stay
in nix.conf. http://ADDRESS/status has counters, /status.json the same as JSON, and /metrics for Prometheus. ^C and SIGTERM end
the server after it has answered, within 10 seconds.`

const nixServeExample = `  umbel-nix serve --upstream https://cache.example.org
  umbel-nix serve --sibling http://builder:5000=http://builder:8080,builder.pub \
    --upstream https://cache.example.org=https://cache.example.org/umbel,cache.example.org.pub --upstream https://cache.nixos.org`

// nixAddress is where umbel-nix serve listens by default.
const nixAddress = "127.0.0.1:8790"

// nixServer is one run of umbel-nix serve.
type nixServer struct {
	*cli.Streams
	listen  string
	cache   string
	maxAge  time.Duration
	memory  quantity.Size
	compact bool
	o       substituter.Options
	stores  []*dir.Store

	node                cli.Node // credentials
	upstreams, siblings []string
	logFormat           string
}

func nixServeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "serve --upstream CACHE...",
		Short:   "answer Nix clients for several caches",
		Long:    nixServeHelp,
		Example: nixServeExample,
		Args:    cli.NoArguments,
	}
	s := &nixServer{memory: substituter.DefaultMaxBytes}
	flags := cmd.Flags()
	flags.StringVar(&s.listen, "listen", nixAddress, "serve at `HOST:PORT`")
	flags.StringArrayVar(&s.upstreams, "upstream", nil, "a `CACHE` that serves paths; may be repeated")
	flags.StringArrayVar(&s.siblings, "sibling", nil, "a `CACHE` that may disappear; may be repeated")
	quantity.DurationVar(flags, &s.o.Timeout, "timeout", substituter.DefaultTimeout,
		"give up if the server sends nothing for this `DURATION`: the cache has failed")
	quantity.DurationVar(flags, &s.maxAge, "max-age", substituter.DefaultMaxAge, "`DURATION` for which a file NixBloom counts after the cache has confirmed it")
	flags.IntVar(&s.o.Priority, "priority", substituter.DefaultPriority, "`NUMBER` in nix-cache-info; Nix requests caches with smaller ones first")
	flags.Var(&s.memory, "bytes", "`SIZE` of the filter's cells at most, of each cache")
	flags.BoolVar(&s.compact, "compact", false, "keep publications as lists of positions: about two bytes per path, but updates take longer")
	flags.StringVar(&s.cache, "cache", "", "`DIRECTORY` that keeps publications, so that a restart fetches only what has changed")
	cli.AddFollowLogFlag(cmd, &s.logFormat)
	cli.AddCredentialFlags(cmd, &s.node)
	return cli.Verb(cmd, s.run)
}

func (s *nixServer) run(ctx context.Context, streams *cli.Streams, _ []string) (err error) {
	if len(s.upstreams)+len(s.siblings) == 0 {
		return cli.UsageError(errors.New("give a cache with --upstream URL"))
	}
	for name, value := range map[string]time.Duration{"timeout": s.o.Timeout, "max-age": s.maxAge} {
		if value <= 0 {
			return cli.UsageError(fmt.Errorf("--%s is %v, want more than 0", name, value))
		}
	}
	s.Streams = streams
	streams.Follow(s.logFormat)
	ctx, stop := s.SignalContext(ctx)
	defer stop()
	s.o.Log = streams.Log
	s.o.Transport = substituter.NewTransport(s.o.Timeout)
	defer func() {
		for _, store := range s.stores {
			err = errors.Join(err, store.Close())
		}
	}()
	for i, text := range slices.Concat(s.siblings, s.upstreams) {
		u, err := s.upstream(ctx, text)
		if err != nil {
			return err
		}
		u.Sibling = i < len(s.siblings)
		s.o.Upstreams = append(s.o.Upstreams, u)
	}
	server, err := substituter.New(s.o)
	if err != nil {
		return err
	}
	if err := cli.CheckListen("listen", s.listen); err != nil {
		return err
	}
	listener, err := service.Listen("listen", s.listen)
	if err != nil {
		return err
	}
	if err := s.announce("http://" + listener.Addr().String()); err != nil {
		listener.Close()
		return err
	}
	g := service.NewGroup()
	g.Serve("--listen", server.HTTP(), listener)
	return g.Run(ctx, service.Drain, func(ctx context.Context) error { server.Run(ctx); return nil })
}

// announce prints the URL of the server.
func (s *nixServer) announce(url string) error {
	if s.Quiet {
		return nil
	}
	out := struct {
		URL    string `json:"url"`
		Caches int    `json:"caches"`
	}{url, len(s.o.Upstreams)}
	err := s.Answer(out, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "answering for %d caches at %s\n", out.Caches, url)
		return err
	})
	return errors.Join(err, s.Flush())
}

// upstream returns the cache of a flag, with its summary.
func (s *nixServer) upstream(ctx context.Context, text string) (substituter.Upstream, error) {
	base, publication, published := strings.Cut(text, "=")
	u, err := url.Parse(base)
	if err != nil || substituter.CheckURL(u) != nil {
		return substituter.Upstream{}, cli.UsageError(fmt.Errorf("%.200q is not the URL of a cache; want http:// or "+
			"https:// and a host, and then possibly =PUBLICATION,KEY", base))
	}
	if !published {
		return substituter.Upstream{URL: u, Summary: substituter.NewBloom(substituter.BloomOptions{
			URL: u, Client: substituter.NewClient(s.o.Transport), MaxAge: s.maxAge, MaxBytes: uint64(s.memory),
		})}, nil
	}
	comma := strings.LastIndex(publication, ",")
	if comma < 0 {
		return substituter.Upstream{}, cli.UsageError(fmt.Errorf("%.200q has no public key; want URL=PUBLICATION,KEY", text))
	}
	summary, err := s.publication(ctx, publication[:comma], publication[comma+1:])
	if err != nil {
		return substituter.Upstream{}, fmt.Errorf("publication of %s: %w", u.Redacted(), err)
	}
	return substituter.Upstream{URL: u, Summary: summary}, nil
}

// publication returns the summary in the publication at a URL, or in a directory.
func (s *nixServer) publication(ctx context.Context, where, key string) (substituter.Summary, error) {
	verifier, err := cli.ParsePublicKey(key)
	if err != nil {
		return nil, err
	}
	source, err := s.node.Source(where, substituter.PublicationPeriod)
	if err != nil {
		return nil, err
	}
	o := share.SubscriberOptions{
		Source: source, Verifier: verifier, Kinds: filter.All, Stale: share.StaleError, Compact: s.compact,
		Limits: wire.Limits{Bytes: uint64(s.memory)}, Log: s.o.Log.With("publication", publicName(where)),
	}
	if s.cache != "" {
		name := sha256.Sum256([]byte(where + "\n" + verifier.Name()))
		store, err := dir.Create(filepath.Join(s.cache, hex.EncodeToString(name[:8])))
		if errors.Is(err, dir.ErrLocked) {
			return nil, fmt.Errorf("another umbel-nix serve uses %s; stop it, or give another directory with --cache", s.cache)
		}
		if err != nil {
			return nil, err
		}
		s.stores = append(s.stores, store)
		o.Cache = store
	}
	subscriber, err := share.NewSubscriber(ctx, o)
	if err != nil {
		return nil, err
	}
	return substituter.NewPublication(publicName(where), subscriber), nil
}

// publicName returns a URL or directory without what may be secret: its password and its query.
func publicName(where string) string {
	u, err := url.Parse(where)
	if err != nil || u.Host == "" {
		return where
	}
	u.RawQuery = ""
	return u.Redacted()
}

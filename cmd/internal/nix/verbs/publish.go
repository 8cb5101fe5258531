package verbs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/nix/nixcache"
	"github.com/umbel-filters/umbel/cmd/internal/publish/publisher"
	"github.com/umbel-filters/umbel/cmd/internal/report"
)

const nixPublishHelp = `Publish which store paths a binary cache has, as the next version of the publication in a directory: the
paths in LIST, as nix path-info --all prints them, or of the files HASH.narinfo in the directory of the cache. Clients
(umbel-nix serve) receive what changes. The keys of the filter are the hashes of the paths.

With --follow the list or directory is looked at twice per second, additions are published at once, and the head
is renewed, until ^C. A head is valid for a minute then (--valid): a client that has no valid head requests the cache
for every path, because a wrong "absent" would cost a build. With --listen as well, the publication is served over HTTP.

The filter has as few cells per path as --bytes permits, since that gives the smallest messages. It is made for --paths
paths, by default a quarter more than there are. A cache that outgrows it gets a larger one.

With --nixbloom the file bloom-filter and its line in nix-cache-info are written to a directory, usually that of
the cache, for clients that know only Nix' own format. Other lines of nix-cache-info stay.

A list or directory with less than half the paths of the version before is not published: --max-shrink, as for umbel
publish. Exit codes: 4 if too many paths are lost; 2 other errors.`

const nixPublishExample = `  umbel keygen cache.example.org
  umbel-nix publish /var/cache/nix --to /var/cache/nix/umbel --key cache.example.org.key
  umbel-nix publish /var/cache/nix --to public --key cache.example.org.key --follow --listen :8080 --nixbloom /var/cache/nix`

// nixVersion is the result of publishing the paths of a cache.
type nixVersion struct {
	Directory string    `json:"directory"`
	Name      string    `json:"name"`
	Version   uint64    `json:"version"`
	New       bool      `json:"new"`
	Paths     uint64    `json:"paths"`
	Added     uint64    `json:"added"`
	Removed   uint64    `json:"removed"`
	Cells     uint64    `json:"cells"`
	K         int       `json:"k"`
	Delta     *uint64   `json:"deltaBytes,omitempty"`
	Expires   time.Time `json:"expires"`
}

func (v nixVersion) Write(w io.Writer) error {
	what := ""
	switch {
	case !v.New:
		what = " is unchanged and"
	case v.Delta != nil:
		what = fmt.Sprintf(", %v bytes from the version before,", quantity.Count(*v.Delta))
	}
	_, err := fmt.Fprintf(w, "%s: version %v of %s with %v paths%s is valid until %s\n", v.Directory, quantity.Count(v.Version), v.Name,
		quantity.Count(v.Paths), what, v.Expires.UTC().Format(time.RFC3339))
	return err
}

// nixPublisher is one run of umbel-nix publish.
type nixPublisher struct {
	*cli.Streams
	follow  bool
	publish publisher.Options
	o       nixcache.Options

	rate      quantity.Rate
	paths     quantity.Count
	size      quantity.Size
	maxShrink publisher.Share
	logFormat string
	given     cli.Given
}

func nixPublishCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "publish LIST|DIRECTORY --to DIRECTORY --key FILE",
		Short:   "publish which store paths a cache has",
		Long:    nixPublishHelp,
		Example: nixPublishExample,
		Args:    cli.Arguments(1, 1),
	}
	p := &nixPublisher{size: nixcache.DefaultMemory, rate: 0.001, maxShrink: 0.5}
	flags := cmd.Flags()
	flags.StringVar(&p.publish.Directory, "to", "", "`DIRECTORY` of the publication")
	flags.StringVar(&p.publish.KeyFile, "key", "", "`FILE` with the private key, made by umbel keygen")
	flags.VarP(&p.rate, "fpr", "p", "false-positive `RATE`: the share of absent paths for which a client requests the cache")
	flags.Var(&p.paths, "paths", "`NUMBER` of paths that the filter is made for (default a quarter more than there are)")
	flags.Var(&p.size, "bytes", "`SIZE` of the filter's cells at most; the publisher needs about twice as much")
	flags.Lookup("paths").DefValue = ""
	o := &p.publish.Share
	o.Workers = runtime.GOMAXPROCS(0)
	quantity.DurationVar(flags, &o.Valid, "valid", 0, "`DURATION` for which the head is valid (default 5m, with --follow 1m)")
	flags.BoolVar(&p.follow, "follow", false, "follow changes until ^C: publish each")
	flags.StringVar(&p.publish.Listen, "listen", "", "serve the publication over HTTP at `HOST:PORT`, with --follow")
	flags.StringVar(&p.o.Bloom, "nixbloom", "", "write the file bloom-filter and nix-cache-info to a `DIRECTORY`, too")
	quantity.DurationVar(flags, &o.Grace, "grace", 10*time.Minute, "`DURATION` for which objects of earlier versions remain")
	flags.Var(&p.maxShrink, "max-shrink", "refuse a cache that has lost more than this `SHARE` of the paths of the version before")
	cli.AddFollowLogFlag(cmd, &p.logFormat)
	cli.Needs(cmd, "listen", "follow", "--follow")
	cli.Needs(cmd, "log-format", "follow", "--follow")
	p.given = cli.GivenFlags(cmd)
	return cli.Verb(cmd, p.run)
}

// complete checks the flags.
func (p *nixPublisher) complete() error {
	o := &p.publish.Share
	if p.publish.Directory == "" || p.publish.KeyFile == "" {
		return cli.UsageError(errors.New("give the directory with --to and the private key with --key"))
	}
	for name, value := range map[string]time.Duration{"valid": o.Valid, "grace": o.Grace} {
		if p.given[name] && value <= 0 {
			return cli.UsageError(fmt.Errorf("--%s is %v, want more than 0", name, value))
		}
	}
	if o.Valid == 0 {
		o.Valid = 5 * time.Minute
		if p.follow {
			o.Valid = time.Minute
		}
	}
	o.MaxShrink = float64(p.maxShrink)
	p.o.Design = nixcache.Design{Rate: float64(p.rate), Keys: uint64(p.paths), Memory: uint64(p.size)}
	return nil
}

func (p *nixPublisher) run(ctx context.Context, streams *cli.Streams, args []string) (err error) {
	if err := p.complete(); err != nil {
		return err
	}
	if p.follow {
		streams.Follow(p.logFormat)
	}
	p.Streams, p.publish.Source, p.publish.Log = streams, args[0], streams.Log
	ctx, stop := p.SignalContext(ctx)
	defer stop()
	if p.o.Source, err = nixcache.NewSource(p.publish.Source); err != nil {
		return err
	}
	to, err := publisher.Open(ctx, p.publish)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close(ctx)) }()
	if s := to.State(); s != nil && !nixcache.HasKind(s.Kind) {
		return fmt.Errorf("%s has a publication of a filter of kind %s; give another directory to that of the cache", p.publish.Directory, s.Kind)
	}
	p.o.Publisher, p.o.Published, p.o.Log = to.Publisher, p.print, p.publish.Log
	n := nixcache.New(p.o)
	v, err := n.Publish(ctx)
	if v.Head.Version == 0 {
		return publisher.Explain(p.publish.Source, err)
	}
	if err != nil {
		p.Warn("%s", report.Text(err))
	}
	p.print(v)
	if !p.follow {
		return nil
	}
	return to.Run(ctx, p.mux(), func(ctx context.Context) error { return n.Follow(ctx, nixcache.DefaultPeriod) })
}

// print prints a version.
func (p *nixPublisher) print(v nixcache.Version) {
	if p.Quiet {
		return
	}
	h := v.Head
	out := nixVersion{
		Directory: p.publish.Directory, Name: h.Name, Version: h.Version, New: v.New, Paths: uint64(v.Paths), Added: uint64(v.Added), Removed: uint64(v.Removed),
		Cells: v.Cells, K: v.K, Expires: h.Expires(),
	}
	if v.New && len(h.Deltas) > 0 {
		out.Delta = &h.Deltas[0].Bytes
	}
	if p.Answer(out, out.Write) == nil {
		_ = p.Flush() // a closed pipe ends the process
	}
}

// mux has the files that Nix reads, if they are written.
func (p *nixPublisher) mux() *http.ServeMux {
	mux := http.NewServeMux()
	if p.o.Bloom != "" {
		for _, name := range []string{nixcache.InfoName, nixcache.BloomName} {
			mux.HandleFunc("GET /"+name, func(w http.ResponseWriter, r *http.Request) {
				http.ServeFile(w, r, filepath.Join(p.o.Bloom, name))
			})
		}
	}
	return mux
}

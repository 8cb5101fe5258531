package publications

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"runtime"
	"time"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/engine/memory"
	"github.com/umbel-filters/umbel/cmd/internal/files/container"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/publish/replica"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/internal/faultlog"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/share/dir"
	"github.com/umbel-filters/umbel/wire"
)

// subscription is the result of fetching a version.
type subscription struct {
	File     string    `json:"file"`
	Name     string    `json:"name"`
	Version  uint64    `json:"version"`
	ID       string    `json:"id"`
	Kind     string    `json:"kind"`
	Bytes    uint64    `json:"bytes"`
	Objects  uint64    `json:"objects"`       // fetched
	Fetched  uint64    `json:"fetchedBytes"`  // of these objects
	Received uint64    `json:"receivedBytes"` // in all, of heads and indexes too
	Fold     uint64    `json:"fold"`
	FPRate   float64   `json:"fpRate"` // measured
	Expires  time.Time `json:"expires"`
}

func (s subscription) Write(w io.Writer) error {
	fold := ""
	if s.Fold > 1 {
		fold = fmt.Sprintf(" folded by %v (rate %v),", quantity.Count(s.Fold), quantity.Rate(s.FPRate))
	}
	_, err := fmt.Fprintf(w, "%s: version %v of %s,%s %v bytes fetched, valid until %s\n", s.File, quantity.Count(s.Version), s.Name, fold,
		quantity.Count(s.Fetched), s.Expires.UTC().Format(time.RFC3339))
	return err
}

const fetchHelp = `Write the current version of a publication (umbel publish) to a file that all verbs read. SOURCE is the URL of
the publication, or its directory. Nothing is written unless it is signed with the public key, complete and valid.

With --cache the version is kept in a directory, and the next run fetches what has changed since then. A cache
also refuses heads that are older than the last one. With --follow new versions are fetched and written as they appear, until ^C. A version whose
head has expired stays in the file, with a warning. If the file can't be written, that is tried again;
only the first write ends the command. So does a head that the key did not sign, before the first version.
--log-format makes a log of the messages on standard error, with an event each; so does --json.

If a publication has folds (umbel publish --folds), --fpr, --start-bytes, --bytes-per-second and --bytes
select among them: the smallest one with the rate that suffices, within the limits. It is written as it is, folded.

With --sparse a Bloom filter with k = 1 is written as the equivalent sparse filter.

A publication of a node (umbel serve) is at http://NODE/v1/publications/FILTER. If it is not public, the
credentials are those of the other verbs for nodes; those of the environment are sent to such URLs only.

Exit codes: 3 the version is out of date; 4 it is not what the key signed, is older than one that
was accepted, or is damaged; 5 the source can't be read; 2 other errors. With --follow: 0 ended by a signal;
130 by ^C, or 143 by SIGTERM, before FILE was written; 4 before then what it reads is not what the key signed.`

const fetchExample = `  umbel fetch https://example.org/words --public-key words.pub -o words.umb
  umbel fetch http://node:8780/v1/publications/words --public-key words.pub --token-file token -o words.umb
  umbel fetch public --public-key words.pub --cache cache -o words.umb --follow --every 1m
  umbel fetch public --public-key peer.pub --sparse -o peer.umb`

// fetchOptions are the arguments and flags of umbel fetch.
type fetchOptions struct {
	subscriptionFlags
	node      cli.Node
	logFormat string
	output    string
	cache     string // "": none
	follow    bool
	every     time.Duration
}

// FetchCommand is umbel fetch.
func FetchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "fetch SOURCE --public-key KEY -o FILE", Short: "copy a published filter to a file, once or as it changes",
		Long: fetchHelp, Example: fetchExample,
		Args: cli.Arguments(1, 1), DisableFlagsInUseLine: true,
	}
	flags := cmd.Flags()
	o := new(fetchOptions)
	cli.AddOutputFlag(cmd, &o.output, "`FILE` to write", cli.OutputFlag{})
	o.add(flags)
	flags.StringVar(&o.cache, "cache", "", "`DIRECTORY` that keeps the version, so that the next run fetches only what has changed")
	flags.BoolVar(&o.follow, "follow", false, "follow changes until ^C: write each new version")
	quantity.DurationVar(flags, &o.every, "every", replica.DefaultPeriod,
		"with --follow, look for changes once per `DURATION`, if the source does not report them")
	cli.AddFollowLogFlag(cmd, &o.logFormat)
	cli.AddCredentialFlags(cmd, &o.node)
	cli.Required(cmd, "output", cli.ErrNoOutput.Error())
	for _, name := range []string{"every", "bytes-per-second", "log-format"} {
		cli.Needs(cmd, name, "follow", "--follow")
	}
	cli.Positive(cmd, "every")
	return cli.Verb(cmd, o.run)
}

// fetcher is one run of umbel fetch.
type fetcher struct {
	*cli.Streams
	output    string
	log       *slog.Logger
	s         *share.Subscriber
	before    share.Counters
	written   *share.View
	delay     time.Duration // until the file is written again after an error
	retryAt   time.Time
	unwritten faultlog.Fault // the file can't be written
}

func (o *fetchOptions) run(ctx context.Context, streams *cli.Streams, args []string) error {
	list, err := o.list(args)
	if err != nil {
		return cli.UsageError(err)
	}
	spec := list[0]
	if spec.Filter != "" {
		return cli.UsageError(fmt.Errorf("%s=%s names a filter of a replica; give the source alone", spec.Filter, spec.Source))
	}
	verifier, err := cli.ParsePublicKey(spec.PublicKey)
	if err != nil {
		return fmt.Errorf("--public-key: %w", err)
	}
	period := o.every
	if !o.follow {
		period = 0
	}
	reader, err := o.node.Source(spec.Source, period)
	if err != nil {
		return err
	}
	if o.follow {
		streams.Follow(o.logFormat)
	}
	f := fetcher{Streams: streams, output: o.output, log: streams.Log}
	ctx, stop := streams.SignalContext(ctx)
	defer stop()
	options := share.SubscriberOptions{
		Source: reader, Verifier: verifier, Kinds: filter.All, Stale: share.StaleError, Limits: fetchLimits(), Budget: spec.Share(),
		Compact: spec.Sparse, Log: f.log,
	}
	if o.cache != "" {
		store, err := dir.Create(o.cache)
		if errors.Is(err, dir.ErrLocked) {
			return fmt.Errorf("another umbel fetch uses the cache %s; give each its own", o.cache)
		}
		if err != nil {
			return err
		}
		defer store.Close()
		options.Cache = store
	}
	if o.follow {
		return f.follow(ctx, options, period)
	}
	return f.once(ctx, options, spec.Source)
}

// once writes the current version.
func (f *fetcher) once(ctx context.Context, o share.SubscriberOptions, where string) (err error) {
	source := &failing{Source: o.Source}
	o.Source = source
	if f.s, err = share.NewSubscriber(ctx, o); err != nil {
		return err
	}
	defer f.s.Close()
	if err := f.s.Update(ctx); err != nil {
		return cli.WithCode(codeOf(err, source.err), cli.NotFound(ctx, source.Source, err, where))
	}
	return f.put()
}

// failing is a source that keeps its last error. It hides that the source can wait for changes.
type failing struct {
	share.Source
	err error
}

func (f *failing) Record(ctx context.Context, name string) ([]byte, error) {
	b, err := f.Source.Record(ctx, name)
	if err != nil {
		f.err = err
	}
	return b, err
}

func (f *failing) Object(ctx context.Context, name string, offset int64) (io.ReadCloser, error) {
	r, err := f.Source.Object(ctx, name, offset)
	if err != nil {
		f.err = err
		return nil, err
	}
	return failingBody{r, f}, nil
}

// failingBody is the body of an object of a failing source.
type failingBody struct {
	io.ReadCloser
	from *failing
}

func (b failingBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		b.from.err = err
	}
	return n, err
}

// codeOf returns the exit code for the error of an update; source is the last error of its source.
func codeOf(err, source error) int {
	is := func(targets ...error) bool {
		for _, t := range targets {
			if errors.Is(err, t) {
				return true
			}
		}
		return false
	}
	switch {
	case is(share.ErrStale):
		return cli.ExitStale
	case is(share.ErrSignature, share.ErrReplayed, share.ErrFork, share.ErrFuture, umbel.ErrCorrupt):
		return cli.ExitRefused
	case source != nil && is(source):
		return cli.ExitUnreachable
	}
	return cli.ExitError
}

// fetchLimits permits what fits into memory.
func fetchLimits() wire.Limits {
	l := wire.Limits{Bytes: math.MaxUint64, Workers: runtime.GOMAXPROCS(0)}
	if free, known := memory.Available(); known {
		l.Bytes = free
	}
	return l
}

// put writes the version to the file, and prints it.
func (f *fetcher) put() error {
	v := f.s.View()
	state := v.Filter().State()
	if err := container.Write(f.output, state); err != nil {
		return err
	}
	f.written = v
	h, c := v.Head(), f.s.Counters()
	out := subscription{
		File: f.output, Name: h.Name, Version: h.Version, ID: h.ID.String(), Kind: h.Kind, Bytes: h.Bytes,
		Objects: c.Objects - f.before.Objects, Fetched: c.Bytes - f.before.Bytes, Received: c.Received - f.before.Received,
		Fold: h.Fold, FPRate: v.Rate(), Expires: h.Expires(),
	}
	if state.Kind != h.Kind { // with --sparse
		out.Kind, out.Bytes = state.Kind, state.Bytes()
	}
	f.before = c
	if err := f.Report(f.output, out, out.Write); err != nil {
		return err
	}
	return f.Flush()
}

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

// subscriber is one run of umbel subscribe.
type subscriber struct {
	cmd       *cobra.Command
	output    string
	log       *slog.Logger
	s         *share.Subscriber
	before    share.Counters
	written   *share.View
	delay     time.Duration // until the file is written again after an error
	retryAt   time.Time
	unwritten faultlog.Fault // the file can't be written
}

// copyPublication writes a publication to a file: once or, with --follow, until ^C.
func copyPublication(cmd *cobra.Command, spec replica.Spec, output string) error {
	follow, _ := cmd.Flags().GetDuration("follow")
	if spec.Filter != "" {
		return cli.UsageError(cmd, fmt.Errorf("%s=%s names a filter of a replica; with -o give the source alone", spec.Filter, spec.Source))
	}
	if follow < 0 {
		return cli.UsageError(cmd, fmt.Errorf("--follow is %v, want a period such as 10s", follow))
	}
	if follow == 0 && spec.BytesPerSecond > 0 {
		return cli.UsageError(cmd, errors.New("--bytes-per-second needs --follow"))
	}
	verifier, err := cli.ParsePublicKey(spec.PublicKey)
	if err != nil {
		return fmt.Errorf("--public-key: %w", err)
	}
	reader, err := cli.SourceOf(cmd, spec.Source, follow)
	if err != nil {
		return err
	}
	if follow == 0 && cmd.Flags().Changed("log-format") {
		return cli.UsageError(cmd, errors.New("--log-format needs --follow"))
	}
	log := cli.StreamsOf(cmd).Log
	if follow > 0 {
		log = cli.Follow(cmd).Log
	}
	ctx, stop := cli.SignalContext(cmd)
	defer stop()
	o := share.SubscriberOptions{
		Source: reader, Verifier: verifier, Kinds: filter.All, Stale: share.StaleError, Limits: fetchLimits(), Budget: spec.Share(),
		Compact: spec.Sparse, Log: log,
	}
	if cache := cmd.Flags().Lookup("cache"); cache.Changed {
		store, err := dir.Create(cache.Value.String())
		if errors.Is(err, dir.ErrLocked) {
			return fmt.Errorf("another umbel subscribe uses the cache %s; give each its own", cache.Value)
		}
		if err != nil {
			return err
		}
		defer store.Close()
		o.Cache = store
	}
	s := subscriber{cmd: cmd, output: output, log: log}
	if follow > 0 {
		return s.follow(ctx, o, follow)
	}
	once := &failing{Source: reader}
	o.Source = once
	if s.s, err = share.NewSubscriber(ctx, o); err != nil {
		return err
	}
	defer s.s.Close()
	if err := s.s.Update(ctx); err != nil {
		return cli.WithCode(codeOf(err, once.err), cli.NotFound(ctx, reader, err, spec.Source))
	}
	return s.put()
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
func (s *subscriber) put() error {
	v := s.s.View()
	state := v.Filter().State()
	if err := container.Write(s.output, state); err != nil {
		return err
	}
	s.written = v
	h, c := v.Head(), s.s.Counters()
	out := subscription{
		File: s.output, Name: h.Name, Version: h.Version, ID: h.ID.String(), Kind: h.Kind, Bytes: h.Bytes,
		Objects: c.Objects - s.before.Objects, Fetched: c.Bytes - s.before.Bytes, Received: c.Received - s.before.Received, Fold: h.Fold, FPRate: v.Rate(), Expires: h.Expires(),
	}
	if state.Kind != h.Kind { // with --sparse
		out.Kind, out.Bytes = state.Kind, state.Bytes()
	}
	s.before = c
	if cli.IsQuiet(s.cmd) {
		return nil
	}
	if err := cli.Report(s.cmd, s.output, out, out.Write); err != nil {
		return err
	}
	return cli.Flush(s.cmd)
}

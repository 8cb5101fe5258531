package publications

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime"
	"time"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/cli/filters"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/publish/publisher"
	"github.com/umbel-filters/umbel/cmd/internal/publish/replica"
	"github.com/umbel-filters/umbel/internal/event"
	"github.com/umbel-filters/umbel/share"
)

// publication is the result of publishing a version.
type publication struct {
	Directory string    `json:"directory"`
	Name      string    `json:"name"`
	Version   uint64    `json:"version"`
	New       bool      `json:"new"` // the filter has changed
	ID        string    `json:"id"`
	Kind      string    `json:"kind"`
	Bytes     uint64    `json:"bytes"`                // memory of the filter
	Delta     *uint64   `json:"deltaBytes,omitempty"` // from the version before
	Expires   time.Time `json:"expires"`
}

func (p publication) Write(w io.Writer) error {
	what := fmt.Sprintf("version %v of %s", quantity.Count(p.Version), p.Name)
	switch {
	case !p.New:
		what += " is unchanged and"
	case p.Delta != nil:
		what += fmt.Sprintf(", %v bytes from the version before,", quantity.Count(*p.Delta))
	}
	_, err := fmt.Fprintf(w, "%s: %s is valid until %s\n", p.Directory, what, p.Expires.UTC().Format(time.RFC3339))
	return err
}

// publishFlags are the flags of a verb that publishes a filter, once or as it changes.
type publishFlags struct {
	to, keyFile, listen string
	follow, seed        bool
	every, valid, grace time.Duration
	whenChanged         publisher.Share
	folds               []uint
	logFormat           string
	filters.Tolerance
}

func (o *publishFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.to, "to", "", "`DIRECTORY` of the publication")
	flags.StringVar(&o.keyFile, "key", "", "`FILE` with the private key, made by umbel keygen")
	flags.BoolVar(&o.follow, "follow", false, "follow changes until ^C: publish each")
	quantity.DurationVar(flags, &o.every, "every", replica.DefaultPeriod, "with --follow, look for changes once per `DURATION`")
	flags.Var(&o.whenChanged, "when-changed", "with --follow, publish when this `SHARE` of the cells has changed (default: any change)")
	flags.Lookup("when-changed").DefValue = ""
	quantity.DurationVar(flags, &o.valid, "valid", 0, "`DURATION` for which the head is valid (default 24h, with --follow three periods, at least 1m)")
	flags.StringVar(&o.listen, "listen", "", "with --follow, serve the directory over HTTP at `HOST:PORT`")
	quantity.DurationVar(flags, &o.grace, "grace", 10*time.Minute, "`DURATION` for which objects of earlier versions remain")
	flags.BoolVar(&o.seed, "publish-seed", false, "publish a filter whose hash has a secret seed; subscribers learn the seed")
	flags.UintSliceVar(&o.folds, "folds", nil, "`FACTORS` of the folds that subscribers may follow, such as 4,16")
	cli.AddFollowLogFlag(cmd, &o.logFormat)
	filters.AddLossyFlag(cmd, &o.Tolerance)
	for _, name := range []string{"every", "when-changed", "listen", "log-format"} {
		cli.Needs(cmd, name, "follow", "--follow")
	}
	cli.Positive(cmd, "every", "valid", "grace")
}

// begin returns a run of the verb. title names the filter in messages.
func (o publishFlags) begin(streams *cli.Streams, title string) (*publishRun, error) {
	if o.to == "" || o.keyFile == "" {
		return nil, cli.UsageError(errors.New("give the directory with --to and the private key with --key"))
	}
	if o.follow {
		streams.Follow(o.logFormat)
	}
	p := &publishRun{Streams: streams, publishFlags: o, title: title, log: streams.Log}
	if p.valid == 0 {
		p.valid = 24 * time.Hour
		if o.follow {
			p.valid = max(time.Minute, (3*o.every + time.Second - 1).Truncate(time.Second))
		}
	}
	if p.valid > longValid {
		streams.Warn("subscribers take this version for exact for %v, also if newer ones do not reach them", p.valid)
	}
	return p, nil
}

// longValid is the validity above which a version is published with a warning.
const longValid = 7 * 24 * time.Hour

// publishRun is one run of a verb that publishes.
type publishRun struct {
	*cli.Streams
	publishFlags
	title   string
	log     *slog.Logger
	next    func(context.Context) (umbel.Filter, error) // returns the filter, nil if it has not changed
	p       *publisher.Publisher
	summary filters.Summary // of the filter that next returned last
	shown   uint64          // the version that was printed last
}

// look is Feed.Next.
func (p *publishRun) look(ctx context.Context) (*share.Update, error) {
	f, err := p.next(ctx)
	if f == nil || err != nil {
		return nil, err
	}
	p.summary = filters.Summarize(p.title, f)
	return &share.Update{State: f.State()}, nil
}

// open opens the directory with the options of the flags and those in o.
func (p *publishRun) open(ctx context.Context, o publisher.Options) (err error) {
	o.Directory, o.KeyFile, o.Listen, o.Source, o.Log = p.to, p.keyFile, p.listen, p.title, p.log
	o.Share.Valid, o.Share.Grace, o.Share.PublishSeed, o.Share.Workers = p.valid, p.grace, p.seed, runtime.GOMAXPROCS(0)
	for _, r := range p.folds {
		o.Share.Folds = append(o.Share.Folds, uint64(r))
	}
	if p.p, err = publisher.Open(ctx, o); err != nil {
		return err
	}
	if h := p.p.Head(); h != nil {
		p.shown = h.Version
	}
	return nil
}

// publish publishes a version, and prints it.
func (p *publishRun) publish(ctx context.Context, s umbel.State) error {
	h, err := p.p.Publish(ctx, s)
	if h == nil {
		return publisher.Explain(p.title, err)
	}
	if err != nil {
		p.log.Warn("old objects of the publication remain", event.CleanupFailed, "error", err)
	}
	return p.print(h)
}

// followChanges publishes changes until ctx ends, and serves the publication. It looks for them once per period, and at each value of
// wake. around, if it is not nil, is called with what publishes.
func (p *publishRun) followChanges(ctx context.Context, wake <-chan struct{}, around func(ctx context.Context, publish func() error) error) error {
	return p.p.Run(ctx, http.NewServeMux(), func(ctx context.Context) error {
		publish := func() error {
			return p.p.Publisher.Run(ctx, share.Feed{Next: p.look, Period: p.every, Wake: wake, WhenChanged: float64(p.whenChanged), Hold: true, Done: p.done})
		}
		if around == nil {
			return publish()
		}
		return around(ctx, publish)
	})
}

// done prints a version that was published.
func (p *publishRun) done(h *share.Head, err error) {
	if err == nil && h != nil && h.Version != p.shown {
		_ = p.print(h) // a closed pipe ends the process
	}
}

// print prints the version of a head, which contains the filter that was read last.
func (p *publishRun) print(h *share.Head) error {
	if text := p.summary.Overfull(); text != "" {
		if p.follow {
			p.log.Warn("filter is overfull", event.FilterOverfull, "file", p.title, "rate", float64(p.summary.FPRate), "planned", float64(p.summary.Planned.FPRate))
		} else {
			p.Exceeds(p.Streams, text)
		}
	}
	isNew := h.Version != p.shown
	p.shown = h.Version
	if p.Quiet {
		return nil
	}
	v := publication{
		Directory: p.to, Name: h.Name, Version: h.Version, New: isNew, ID: h.ID.String(), Kind: h.Kind,
		Bytes: h.Bytes, Expires: h.Expires(),
	}
	if isNew && len(h.Deltas) > 0 {
		v.Delta = &h.Deltas[0].Bytes
	}
	if err := p.Answer(v, v.Write); err != nil {
		return err
	}
	return p.Flush()
}

package publications

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"runtime"
	"time"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/cli/filters"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/publish/publisher"
	"github.com/umbel-filters/umbel/cmd/internal/publish/replica"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/internal/event"
	"github.com/umbel-filters/umbel/share"
)

const publishHelp = `Publish the filter in FILE as the next version of the publication in a directory. Any web server
can serve the directory, and any copy of it works as well. umbel replica and umbel fetch follow it: they fetch
what changed since the version that they have, and verify it with the public key.

The head of the publication is valid for a time, --valid. Afterwards subscribers no longer take its
answers for exact. Publish again before, even if the filter has not changed.

With --follow the filter is published whenever FILE changes, and the head is renewed, until ^C.
Heads are then valid for three periods, at least 1m, unless --valid is given, also if the last
head was valid for longer.

With --when-changed 5% a version waits until 5 % of the cells in use differ, which is about the share of keys that were added or
removed, but not longer than a third of --valid. Until then subscribers do not have these changes.

With --listen as well, the directory is served over HTTP; subscribers then learn of a new version
at once. --log-format makes a log of the messages on standard error, with an event each; so does --json.

An overfull filter is published with a warning, and the exit code is 6, or 0 with --lossy.

Files and directories get the permissions that the umask leaves: with umask 077 no web server of
another user can read them. Exit codes: 4 if the filter has lost too many keys; 6 if it
is overfull; 2 other errors.`

const publishReference = `A key is for one directory. If a second one is published with it, subscribers follow the
publisher that began later.

A filter that has lost more than half the keys of the version before, by estimates, is not published: its list
may have been emptied, or be another one, by mistake. --max-shrink states another share of the keys that may be
lost; 100% permits every filter. With --follow the version before stays published, with a warning. Kinds that
umbel intersect does not compare are judged by their numbers of keys.

With --folds subscribers may follow the filter folded by one of these factors: fewer bytes and less memory, at
a higher rate of false positives. Each factor divides the next one and the size of the filter.`

const publishExample = `  umbel keygen example.org/words                # prints the public key
  umbel publish words.umb --to public --key words.key
  umbel publish words.umb --to public --key words.key --follow --every 10s --listen 127.0.0.1:8080`

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

// publishRun is one run of umbel publish.
type publishRun struct {
	*cli.Streams
	publishOptions
	log     *slog.Logger
	p       *publisher.Publisher
	read    os.FileInfo     // of the file that was read last
	summary filters.Summary // of its filter
	shown   uint64          // the version that was printed last
}

// publishOptions are the arguments and flags of umbel publish.
type publishOptions struct {
	file, to, keyFile, listen string
	follow, seed              bool
	every, valid, grace       time.Duration
	maxShrink, whenChanged    publisher.Share
	folds                     []uint
	logFormat                 string
	filters.Tolerance
}

// PublishCommand is umbel publish.
func PublishCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "publish FILE --to DIRECTORY --key FILE", Short: "publish a filter, or its next version", Long: publishHelp, Example: publishExample, Annotations: cli.Reference(publishReference),
		Args: cli.Arguments(1, 1),
	}
	o := &publishOptions{maxShrink: 0.5}
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
	flags.Var(&o.maxShrink, "max-shrink", "refuse a filter that has lost more than this `SHARE` of the keys of the version before")
	flags.BoolVar(&o.seed, "publish-seed", false, "publish a filter whose hash has a secret seed; subscribers learn the seed")
	flags.UintSliceVar(&o.folds, "folds", nil, "`FACTORS` of the folds that subscribers may follow, such as 4,16")
	cli.AddFollowLogFlag(cmd, &o.logFormat)
	filters.AddLossyFlag(cmd, &o.Tolerance)
	for _, name := range []string{"every", "when-changed", "listen", "log-format"} {
		cli.Needs(cmd, name, "follow", "--follow")
	}
	cli.Positive(cmd, "every", "valid", "grace")
	return cli.Verb(cmd, o.run)
}

// run publishes the filter in a file, and with follow its changes.
func (o *publishOptions) run(ctx context.Context, streams *cli.Streams, args []string) error {
	o.file = args[0]
	if o.to == "" || o.keyFile == "" {
		return cli.UsageError(errors.New("give the directory with --to and the private key with --key"))
	}
	if o.follow {
		streams.Follow(o.logFormat)
	}
	p := publishRun{Streams: streams, publishOptions: *o, log: streams.Log}
	if p.valid == 0 {
		p.valid = 24 * time.Hour
		if o.follow {
			p.valid = max(time.Minute, (3*o.every + time.Second - 1).Truncate(time.Second))
		}
	}
	if p.valid > longValid {
		streams.Warn("subscribers take this version for exact for %v, also if newer ones do not reach them", p.valid)
	}
	return p.run(ctx)
}

// options are those of the publisher of package publisher.
func (p *publishRun) options() publisher.Options {
	o := share.PublisherOptions{
		Valid: p.valid, Grace: p.grace, PublishSeed: p.seed, Workers: runtime.GOMAXPROCS(0), MaxShrink: float64(p.maxShrink),
	}
	for _, r := range p.folds {
		o.Folds = append(o.Folds, uint64(r))
	}
	return publisher.Options{Directory: p.to, KeyFile: p.keyFile, Listen: p.listen, Source: p.file, Log: p.log, Share: o}
}

// longValid is the validity above which a version is published with a warning.
const longValid = 7 * 24 * time.Hour

func (p *publishRun) run(ctx context.Context) (err error) {
	ctx, stop := p.SignalContext(ctx)
	defer stop()
	update, err := p.next(ctx)
	if err != nil {
		return err
	}
	if p.p, err = publisher.Open(ctx, p.options()); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.p.Close(ctx)) }()
	if h := p.p.Head(); h != nil {
		p.shown = h.Version
	}
	h, err := p.p.Publish(ctx, update.State)
	if h == nil {
		return publisher.Explain(p.file, err)
	}
	if err != nil {
		p.log.Warn("old objects of the publication remain", event.CleanupFailed, "error", err)
	}
	if err := p.print(h); err != nil || !p.follow {
		return err
	}
	return p.p.Run(ctx, http.NewServeMux(), func(ctx context.Context) error {
		return p.p.Publisher.Run(ctx, share.Feed{Next: p.next, Period: p.every, WhenChanged: float64(p.whenChanged), Hold: true, Done: p.done})
	})
}

// next returns the filter in the file, nil if the file has not changed since it was read.
func (p *publishRun) next(context.Context) (*share.Update, error) {
	info, err := os.Stat(p.file)
	if err != nil {
		return nil, err
	}
	if p.read != nil && os.SameFile(info, p.read) && info.ModTime().Equal(p.read.ModTime()) && info.Size() == p.read.Size() {
		return nil, nil
	}
	p.read = nil // a file that cannot be read is read again
	s, err := p.ReadFilter(p.file)
	if err != nil {
		return nil, err
	}
	f, err := filter.All.Open(s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.file, err)
	}
	p.read, p.summary = info, filters.Summarize(p.file, f)
	return &share.Update{State: s}, nil
}

// done prints a version that was published.
func (p *publishRun) done(h *share.Head, err error) {
	if err == nil && h.Version != p.shown {
		_ = p.print(h) // a closed pipe ends the process
	}
}

// print prints the version of a head, which contains the filter that was read last.
func (p *publishRun) print(h *share.Head) error {
	if text := p.summary.Overfull(); text != "" {
		if p.follow {
			p.log.Warn("filter is overfull", event.FilterOverfull, "file", p.file, "rate", float64(p.summary.FPRate), "planned", float64(p.summary.Planned.FPRate))
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

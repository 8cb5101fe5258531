package publications

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/publish"
	"github.com/umbel-filters/umbel/cmd/internal/publish/publisher"
	"github.com/umbel-filters/umbel/cmd/internal/publish/replica"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/internal/event"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/share/dir"
)

const uniteHelp = `Publish one filter with the keys of several publications, for example those of regions that add keys
independently. SOURCE is the URL of a publication, or its directory; NAME=SOURCE names it in messages. The public
keys are in the order of the sources. Nothing is used unless it is signed with the public key, complete and valid.

With --follow a version is published whenever a source has new keys, and the head is renewed, until ^C. Unions
may follow each other: each publishes until all have the same keys, and then only renews its head.

Keys stay in the union, also if a source is cleared, replaced, set back, or ends; the bits that a source has lost
are a warning. The directory keeps the union: the next run continues with it. --start-again begins with what the
sources have now instead.

The filters are of one kind whose additions only set bits: bloom, partitioned, blocked, splitblock, weighted,
squid, nixbloom or imported. Hash and seed are the same. The union has the size with which it began: the smallest
of the sources. Sizes of others are multiples of it. Other sources are refused, with a warning.

Exit codes, after the other sources were published: 3 a source is out of date; 4 it is not what the key signed, is
older than one that was accepted, or is damaged; 5 it can't be read; 2 it is refused. 4 as well if the union in the
directory is damaged; 6 the union is overfull; 2 other errors.`

const uniteReference = `With --cache the versions of the sources are kept, in a directory each, and the next run fetches
what has changed since then. A cache also refuses heads that are older than the last one.

While a source is out of date, its last keys stay in the union, the head of the union is renewed, and there is a
warning. Later keys of the source are missing until it can be read again.

--to, --key, --listen, --every, --valid, --grace, --when-changed and --folds are those of umbel publish.`

const uniteExample = `  umbel unite http://eu:8080 http://us:8080 --public-key eu.pub --public-key us.pub --to all --key all.key
  umbel unite http://eu:8080 http://us:8080 --public-key eu.pub --public-key us.pub \
      --to all --key all.key --cache sources --follow --listen 127.0.0.1:8081`

// uniteOptions are the arguments and flags of umbel unite.
type uniteOptions struct {
	publishFlags
	keys       []string
	cache      string // "": none
	startAgain bool
	node       cli.Node
}

// UniteCommand is umbel unite.
func UniteCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "unite [NAME=]SOURCE... --public-key KEY... --to DIRECTORY --key FILE", Short: "publish the union of publications",
		Long: uniteHelp, Example: uniteExample, Annotations: cli.Reference(uniteReference),
		Args: cli.Arguments(1, -1), DisableFlagsInUseLine: true,
	}
	o := new(uniteOptions)
	o.add(cmd)
	flags := cmd.Flags()
	flags.StringArrayVar(&o.keys, "public-key", nil, "public `KEY` of the publication, or a file that contains it; once for each source")
	flags.StringVar(&o.cache, "cache", "", "`DIRECTORY` that keeps the versions of the sources, so that the next run fetches only what has changed")
	flags.BoolVar(&o.startAgain, "start-again", false, "begin with what the sources have now: drop what the union had before")
	cli.AddCredentialFlags(cmd, &o.node)
	return cli.Verb(cmd, o.run)
}

// uniteRun is one run of umbel unite.
type uniteRun struct {
	*publishRun
	union   *share.Union
	sources []*unitedSource
}

// unitedSource is a source of a union.
type unitedSource struct {
	replica.Publication
	reads      *failing
	subscriber *share.Subscriber
	cache      *dir.Store // nil without
}

func (o *uniteOptions) run(ctx context.Context, streams *cli.Streams, args []string) (err error) {
	p, err := o.begin(streams, "the union")
	if err != nil {
		return err
	}
	list, err := subscriptionsOf(args, o.keys)
	if err != nil {
		return cli.UsageError(err)
	}
	period := o.every
	if !o.follow {
		period = 0
	}
	following, err := openSources(o.node, list, period)
	if err != nil {
		return err
	}
	ctx, stop := streams.SignalContext(ctx)
	defer stop()
	u := uniteRun{publishRun: p}
	if err := u.open(ctx, publisher.Options{Share: share.PublisherOptions{MaxShrink: o.maxShrink()}}); err != nil {
		if _, lost := errors.AsType[*share.ShrunkError](err); lost {
			return cli.WithCode(cli.ExitRefused, fmt.Errorf("the last version in %s cannot be read, so that keys would be missing; --start-again "+
				"publishes what the sources have now", o.to))
		}
		return err
	}
	defer func() { err = errors.Join(err, u.p.Close(ctx)) }()
	begin := share.UnionOptions{Kinds: filter.All, Log: u.log, State: u.p.State()}
	if o.startAgain {
		begin.State = nil
	}
	if u.union, err = share.NewUnion(begin); err != nil {
		return fmt.Errorf("%s: %w", o.to, err)
	}
	u.next = u.unite
	defer func() { err = errors.Join(err, u.close()) }()
	for _, source := range following {
		if err := u.add(ctx, source, o.cache); err != nil {
			return fmt.Errorf("%s: %w", source.Title(), err)
		}
	}
	if o.follow {
		return u.followChanges(ctx, u.union.Feed().Wake, u.followSources)
	}
	return u.once(ctx)
}

// maxShrink refuses a directory whose last version cannot be read, unless the union starts again. A union itself does not shrink.
func (o *uniteOptions) maxShrink() float64 {
	if o.startAgain {
		return 1
	}
	return 0.5
}

// add makes the union follow a source.
func (u *uniteRun) add(ctx context.Context, p replica.Publication, caches string) (err error) {
	if p.Filter == "" {
		p.Filter = p.Verifier.Name()
	}
	s := &unitedSource{Publication: p}
	o := share.SubscriberOptions{Source: p.Reader, Verifier: p.Verifier, Limits: fetchLimits(), Log: u.log.With("source", p.Filter)}
	if !u.follow {
		s.reads = &failing{Source: p.Reader}
		o.Source = s.reads
	}
	if caches != "" {
		path := filepath.Join(caches, publish.DirectoryName(p.Filter))
		if s.cache, err = dir.Create(path); errors.Is(err, dir.ErrLocked) {
			return fmt.Errorf("another subscriber, or another source of this name, uses the cache %s; give each its own: %w", path, dir.ErrLocked)
		}
		if err != nil {
			return err
		}
		o.Cache = s.cache
	}
	u.sources = append(u.sources, s)
	s.subscriber, err = u.union.Follow(ctx, p.Filter, o)
	return err
}

// update looks for a version of each source, once. It returns their errors, in the order of the sources.
func (u *uniteRun) update(ctx context.Context) []error {
	errs := make([]error, len(u.sources))
	var all sync.WaitGroup
	for i, s := range u.sources {
		all.Go(func() { errs[i] = s.subscriber.Update(ctx) })
	}
	all.Wait()
	return errs
}

// once publishes the union of the versions that the sources have now. Its error is the first one of a source.
func (u *uniteRun) once(ctx context.Context) error {
	failed := u.update(ctx)
	if ctx.Err() != nil {
		return cli.Interrupted(ctx, "nothing was published")
	}
	update, err := u.look(ctx)
	if err != nil {
		return err
	}
	for i, s := range u.sources {
		if failed[i] == nil {
			continue
		}
		explained := fmt.Errorf("%s: %w", s.Filter, cli.NotFound(ctx, s.Reader, failed[i], s.Source))
		if err == nil {
			err = cli.WithCode(codeOf(failed[i], s.reads.err), explained)
		} else {
			u.Warn("%v", explained)
		}
	}
	if err == nil && u.union.Err() != nil {
		err = errors.New("the union lacks the sources that cannot be united") // a warning has named each
	}
	state := u.p.State()
	if update != nil {
		state = &update.State
	}
	if state == nil {
		return err
	}
	return errors.Join(u.publish(ctx, *state), err)
}

// unite returns the union with the versions that the sources have now, nil if there is no new one.
func (u *uniteRun) unite(ctx context.Context) (umbel.Filter, error) {
	update, err := u.union.Next(ctx)
	if update == nil || err != nil {
		return nil, err
	}
	return filter.All.Open(update.State)
}

// followSources follows the sources until ctx ends, and calls publish meanwhile. A union without a version begins with the smallest of
// those that the sources have.
func (u *uniteRun) followSources(ctx context.Context, publish func() error) error {
	if u.p.Head() == nil {
		for i, err := range u.update(ctx) {
			if err != nil && ctx.Err() == nil {
				u.log.Warn("update failed", event.SubscriptionFailed, "source", u.sources[i].Filter, "error", err)
			}
		}
	}
	ctx, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	for _, s := range u.sources {
		running.Go(func() { _ = s.subscriber.Run(ctx, u.every) }) // the error is that of ctx
	}
	return publish()
}

// close ends the subscribers and unlocks the caches.
func (u *uniteRun) close() error {
	var errs []error
	for _, s := range u.sources {
		if s.subscriber != nil {
			s.subscriber.Close()
		}
		if s.cache != nil {
			errs = append(errs, s.cache.Close())
		}
	}
	return errors.Join(errs...)
}

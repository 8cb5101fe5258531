package publications

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/publish/publisher"
	"github.com/umbel-filters/umbel/filter"
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

// publishOptions are the arguments and flags of umbel publish.
type publishOptions struct {
	publishFlags
	file      string
	maxShrink publisher.Share
}

// PublishCommand is umbel publish.
func PublishCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "publish FILE --to DIRECTORY --key FILE", Short: "publish a filter, or its next version",
		Long: publishHelp, Example: publishExample, Annotations: cli.Reference(publishReference),
		Args: cli.Arguments(1, 1),
	}
	o := &publishOptions{maxShrink: 0.5}
	o.add(cmd)
	cmd.Flags().Var(&o.maxShrink, "max-shrink", "refuse a filter that has lost more than this `SHARE` of the keys of the version before")
	return cli.Verb(cmd, o.run)
}

// run publishes the filter in a file, and with follow its changes.
func (o *publishOptions) run(ctx context.Context, streams *cli.Streams, args []string) error {
	o.file = args[0]
	p, err := o.begin(streams, o.file)
	if err != nil {
		return err
	}
	return p.run(ctx, o)
}

func (p *publishRun) run(ctx context.Context, o *publishOptions) (err error) {
	ctx, stop := p.SignalContext(ctx)
	defer stop()
	p.next = (&watchedFile{Streams: p.Streams, path: o.file}).next
	update, err := p.look(ctx)
	if err != nil {
		return err
	}
	if err := p.open(ctx, publisher.Options{Share: share.PublisherOptions{MaxShrink: float64(o.maxShrink)}}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.p.Close(ctx)) }()
	if err := p.publish(ctx, update.State); err != nil || !p.follow {
		return err
	}
	return p.followChanges(ctx, nil, nil)
}

// watchedFile is a file with a filter that may be replaced.
type watchedFile struct {
	*cli.Streams
	path string
	read os.FileInfo // of the file that was read last
}

// next returns the filter in the file, nil if the file has not changed since it was read.
func (w *watchedFile) next(context.Context) (umbel.Filter, error) {
	info, err := os.Stat(w.path)
	if err != nil {
		return nil, err
	}
	if w.read != nil && os.SameFile(info, w.read) && info.ModTime().Equal(w.read.ModTime()) && info.Size() == w.read.Size() {
		return nil, nil
	}
	w.read = nil // a file that cannot be read is read again
	s, err := w.ReadFilter(w.path)
	if err != nil {
		return nil, err
	}
	f, err := filter.All.Open(s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", w.path, err)
	}
	w.read = info
	return f, nil
}

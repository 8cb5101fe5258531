package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/url"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/container"
	"github.com/umbel-filters/umbel/cmd/internal/memory"
	"github.com/umbel-filters/umbel/cmd/internal/node"
	"github.com/umbel-filters/umbel/cmd/internal/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/remote"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/share/dir"
	"github.com/umbel-filters/umbel/share/web"
	"github.com/umbel-filters/umbel/wire"
)

const subscribeHelp = `Write the current version of a publication (umbel publish) to a file. SOURCE is its URL, or its
directory. Nothing is written unless the version is signed with the public key, complete and valid.

With --cache the version is kept in a directory, and the next run fetches what has changed since
then. A cache also refuses heads that are older than the last one.

With --follow new versions are fetched and written as they appear, until ^C. A version whose head
has expired stays in the file, with a warning.

A publication of a node (umbel serve) is at http://NODE/v1/publications/FILTER. If it is not public, the
credentials are those of the other verbs for nodes; those of the environment are sent to such URLs only.`

const subscribeExample = `  umbel subscribe https://example.org/words --public-key words.pub -o words.umb
  umbel subscribe http://node:8780/v1/publications/words --public-key words.pub --token-file token -o words.umb
  umbel subscribe public --public-key words.pub --cache cache -o words.umb --follow 1m
  umbel has words.umb zebra`

// subscription is the result of fetching a version.
type subscription struct {
	File    string    `json:"file"`
	Name    string    `json:"name"`
	Version uint64    `json:"version"`
	ID      string    `json:"id"`
	Kind    string    `json:"kind"`
	Bytes   uint64    `json:"bytes"`
	Objects uint64    `json:"objects"`      // fetched
	Fetched uint64    `json:"fetchedBytes"` // of these objects
	Expires time.Time `json:"expires"`
}

func (s subscription) write(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s: version %v of %s, %v bytes fetched, valid until %s\n", s.File, quantity.Count(s.Version), s.Name,
		quantity.Count(s.Fetched), s.Expires.Local().Format(time.DateTime))
	return err
}

// subscriber is one run of umbel subscribe.
type subscriber struct {
	cmd     *cobra.Command
	output  string
	s       *share.Subscriber
	before  share.Counters
	written *share.View
}

func subscribeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "subscribe SOURCE --public-key KEY -o FILE",
		Short:   "fetch a published filter, and follow it",
		Long:    subscribeHelp,
		Example: subscribeExample,
		Args:    arguments(1, 1),
	}
	flags := cmd.Flags()
	key := flags.String("public-key", "", "public `KEY` of the publication, or a file that contains it")
	output := flags.StringP("output", "o", "", "`FILE` to write")
	cache := flags.String("cache", "", "`DIRECTORY` that keeps the version for the next run")
	follow := flags.Duration("follow", 0, "look for new versions once per `period`, and write them until ^C")
	addCredentialFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *key == "" || *output == "" {
			return usageError(cmd, errors.New("give the public key with --public-key and the file to write with -o"))
		}
		verifier, err := parsePublicKey(*key)
		if err != nil {
			return err
		}
		source, err := sourceOf(cmd, args[0], *follow)
		if err != nil {
			return err
		}
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		o := share.SubscriberOptions{
			Source: source, Verifier: verifier, Kinds: filter.All, Stale: share.StaleError, Limits: fetchLimits(),
			Log: node.NewLogger(os.Stderr, "text", slog.LevelWarn),
		}
		if *cache != "" {
			store, err := dir.Create(*cache)
			if errors.Is(err, dir.ErrLocked) {
				return fmt.Errorf("another umbel subscribe uses the cache %s; give each its own", *cache)
			}
			if err != nil {
				return err
			}
			defer store.Close()
			o.Cache = store
		}
		s := subscriber{cmd: cmd, output: *output}
		changed := make(chan struct{}, 1)
		o.Changed = func(*share.View) {
			select {
			case changed <- struct{}{}:
			default:
			}
		}
		if s.s, err = share.NewSubscriber(ctx, o); err != nil {
			return err
		}
		defer s.s.Close()
		if *follow > 0 {
			return s.follow(ctx, *follow, changed)
		}
		if err := s.s.Update(ctx); err != nil {
			return notFound(ctx, source, err, args[0])
		}
		return s.put()
	}
	return cmd
}

// sourceOf returns the source at a URL or in a directory. The head at a URL is requested once per
// period, if the server doesn't report changes itself.
func sourceOf(cmd *cobra.Command, where string, period time.Duration) (share.Source, error) {
	if strings.HasPrefix(where, "https://") || strings.HasPrefix(where, "http://") {
		return webSource(cmd, where, period)
	}
	if info, err := os.Stat(where); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, fmt.Errorf("%s is a file; give the directory or the URL of a publication", where)
	}
	return dir.Open(where), nil
}

// webSource returns the source at a URL, with credentials. Those of the environment are for the user's nodes;
// they are not sent to other servers.
func webSource(cmd *cobra.Command, where string, period time.Duration) (share.Source, error) {
	u, err := url.Parse(where)
	if err != nil {
		return nil, fmt.Errorf("%q is not a URL", where)
	}
	o, err := credentials(cmd)
	if err != nil {
		return nil, err
	}
	if o.Token == "" && u.User == nil && strings.Contains(u.Path, "/v1/publications/") {
		o.Token = os.Getenv("UMBEL_CLIENT_TOKEN")
		if user := os.Getenv("UMBEL_CLIENT_USER"); user != "" && o.Token == "" {
			u.User = url.UserPassword(user, os.Getenv("UMBEL_CLIENT_PASSWORD"))
		}
	}
	client, err := remote.PublicationClient(u, o)
	if err != nil {
		return nil, err
	}
	return web.NewClient(u.String(), web.ClientOptions{HTTP: client, Poll: period})
}

// notFound explains that a source has no publication.
func notFound(ctx context.Context, source share.Source, err error, where string) error {
	if !errors.Is(err, share.ErrNotFound) {
		return err
	}
	if _, head := source.Record(ctx, share.HeadName); errors.Is(head, share.ErrNotFound) {
		return fmt.Errorf("%s has no publication: %w", where, err)
	}
	return fmt.Errorf("%s has a publication, but not all of it: %w", where, err)
}

// fetchLimits permits what fits into memory.
func fetchLimits() wire.Limits {
	l := wire.Limits{Bytes: math.MaxUint64, States: 1 << 20, Workers: runtime.GOMAXPROCS(0)}
	if free, known := memory.Available(); known {
		l.Bytes = free
	}
	return l
}

// put writes the version to the file, and prints it.
func (s *subscriber) put() error {
	v := s.s.View()
	if err := container.Write(s.output, v.Filter().State()); err != nil {
		return err
	}
	s.written = v
	h, c := v.Head(), s.s.Counters()
	out := subscription{
		File: s.output, Name: h.Name, Version: h.Version, ID: h.ID.String(), Kind: h.Kind, Bytes: h.Bytes,
		Objects: c.Objects - s.before.Objects, Fetched: c.Bytes - s.before.Bytes, Expires: h.Expires(),
	}
	s.before = c
	if isQuiet(s.cmd) {
		return nil
	}
	if err := report(s.cmd, s.output, out, out.write); err != nil {
		return err
	}
	return flush(s.cmd)
}

// follow writes versions as they appear, until ctx ends or the file can't be written. It warns when the
// version in the file has expired.
func (s *subscriber) follow(ctx context.Context, period time.Duration, changed <-chan struct{}) error {
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- s.s.Run(ctx, period) }()
	defer func() { stop(); <-ended }()
	t := time.NewTicker(time.Second)
	defer t.Stop()
	expired := false
	for {
		switch v := s.s.View(); {
		case v == nil:
		case v.Exact():
			expired = false
			if s.written == nil || s.written.Head().ID != v.Head().ID {
				if err := s.put(); err != nil {
					return err
				}
			}
		case !expired:
			expired = true
			h := v.Head()
			fmt.Fprintf(s.cmd.ErrOrStderr(), "umbel: warning: version %d expired at %s; %s\n", h.Version, h.Expires().Local().Format(time.DateTime), s.kept())
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		case <-t.C:
		}
	}
}

// kept says what the file contains.
func (s *subscriber) kept() string {
	if s.written == nil {
		return s.output + " is not written"
	}
	return s.output + " stays as it is"
}

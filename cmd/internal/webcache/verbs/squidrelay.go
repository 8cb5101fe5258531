package verbs

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/publish/signing"
	"github.com/umbel-filters/umbel/cmd/internal/service"
	"github.com/umbel-filters/umbel/cmd/internal/webcache/squidpeer"
	"github.com/umbel-filters/umbel/internal/hop"
)

const squidRelayHelp = `Relay the cache digests of Squids to other Squids until ^C, in a form that all releases read without
false negatives. In the squid.conf of a Squid that reads the digest, one option changes:

  cache_peer HOST sibling 3128 0 no-query digest-url=URL

URL is http://127.0.0.1:8010/NAME/store_digest, with the address of the relay.

A digest is fetched when the last one expires, with longer waits after errors. While there is none,
and a minute after it expired, the answer is 404. A status page at / states what each peer has, and
why it has no digest; /status.json has the same as JSON, and /metrics for Prometheus.

With --publish the digests are also published in DIRECTORY/NAME, for umbel replica, and served at
/NAME/publication. Each peer has a key of its own: --publication-key NAME=FILE, or --publication-key FILE if there is one peer.`

const squidRelayExample = `  umbel-cache squid relay --listen 127.0.0.1:8010 --squid-peer a=http://squid-a:3128`

// relayRun is one run of umbel-cache squid relay.
type relayRun struct {
	listen  string
	peers   []string // NAME=URL
	publish string   // directory
	keys    []string // NAME=FILE
	timeout time.Duration

	logFormat string
}

func squidRelayCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "relay --listen HOST:PORT --squid-peer NAME=URL...",
		Short:   "relay cache digests between Squids",
		Long:    squidRelayHelp,
		Example: squidRelayExample,
		Args:    cli.Arguments(0, 0),

		DisableFlagsInUseLine: true,
	}
	r := new(relayRun)
	flags := cmd.Flags()
	flags.StringVar(&r.listen, "listen", "", "serve the digests at `HOST:PORT`")
	flags.StringArrayVar(&r.peers, "squid-peer", nil, "`NAME=URL` of a Squid whose digest is relayed, or NAME=HOST:PORT; once for each")
	flags.StringVar(&r.publish, "publish", "", "publish the digests below `DIRECTORY`")
	flags.StringArrayVar(&r.keys, "publication-key", nil, "`NAME=FILE` with the private key of a peer's publication")
	quantity.DurationVar(flags, &r.timeout, "transfer-timeout", squidpeer.DefaultTimeout, "`DURATION` of a transfer at most")
	cli.AddFollowLogFlag(cmd, &r.logFormat)
	cli.Required(cmd, "listen", "give the address to serve at: --listen HOST:PORT")
	cli.Required(cmd, "squid-peer", "give the Squids: --squid-peer NAME=URL")
	cli.Needs(cmd, "publish", "publication-key", "the private key of each publication: --publication-key NAME=FILE")
	cli.Needs(cmd, "publication-key", "publish", "the directory: --publish DIRECTORY")
	return cli.Verb(cmd, r.run)
}

func (r *relayRun) run(ctx context.Context, streams *cli.Streams, _ []string) (err error) {
	if err := cli.CheckListen("listen", r.listen); err != nil {
		return err
	}
	if r.timeout <= 0 {
		return cli.UsageError(fmt.Errorf("--transfer-timeout is %v, want more than 0", r.timeout))
	}
	streams.Follow(r.logFormat)
	ctx = streams.Interruptible(ctx)
	o := squidpeer.Options{Fetcher: squidpeer.Fetcher{Timeout: r.timeout}, Log: streams.Log}
	if o.Peers, err = r.list(); err != nil {
		return cli.UsageError(err)
	}
	if _, err := squidpeer.New(o); err != nil { // before anything is created
		return cli.UsageError(err)
	}
	keys, err := r.keysOf(o.Peers)
	if err != nil {
		return cli.UsageError(err)
	}
	listener, err := service.Listen("listen", r.listen)
	if err != nil {
		return err
	}
	defer listener.Close()
	if err := r.open(ctx, o, keys); err != nil {
		return err
	}
	relay, err := squidpeer.New(o)
	if err != nil {
		return err
	}
	streams.Inform("relaying at http://%s/", listener.Addr())
	g := service.NewGroup()
	g.Serve("--listen", service.NewServer(hop.Bodiless(relay.Handler()), o.Log), service.Stalling(listener))
	return g.Run(ctx, service.Drain, func(ctx context.Context) error { relay.Run(ctx); return nil })
}

// list returns the peers of the flags.
func (r *relayRun) list() ([]squidpeer.Peer, error) {
	var all []squidpeer.Peer
	for _, word := range r.peers {
		name, where, ok := strings.Cut(word, "=")
		if !ok {
			return nil, fmt.Errorf("--squid-peer %q: want NAME=URL, such as a=http://127.0.0.1:3128", word)
		}
		url, err := squidpeer.URL(where)
		if err != nil {
			return nil, fmt.Errorf("--squid-peer %s: %w", name, err)
		}
		all = append(all, squidpeer.Peer{Name: name, URL: url})
	}
	return all, nil
}

// keysOf returns the private key of each peer, and none without --publish. The name in a key is that of a
// publication, so that two peers don't share one.
func (r *relayRun) keysOf(peers []squidpeer.Peer) (map[string]signing.Key, error) {
	if r.publish == "" {
		return nil, nil
	}
	keys, publications := map[string]signing.Key{}, map[string]string{}
	for _, word := range r.keys {
		name, file, ok := strings.Cut(word, "=")
		if !ok && len(peers) == 1 {
			name, file = peers[0].Name, word
		}
		k, err := signing.Read(file)
		if err != nil {
			return nil, fmt.Errorf("--publication-key %s: %w", word, err)
		}
		if other, taken := publications[k.Signer.Name()]; taken {
			return nil, fmt.Errorf("the keys of %s and %s are both of %s; create one for each peer with umbel keygen", other, name, k.Signer.Name())
		}
		publications[k.Signer.Name()] = name
		keys[name] = k
	}
	for _, p := range peers {
		if _, ok := keys[p.Name]; !ok {
			return nil, fmt.Errorf("give the private key of the publication of %s: --publication-key %[1]s=FILE", p.Name)
		}
	}
	if len(keys) > len(peers) {
		return nil, errors.New("a --publication-key is of none of the peers")
	}
	return keys, nil
}

// open opens the publications of the peers, or none. The relay closes them.
func (r *relayRun) open(ctx context.Context, o squidpeer.Options, keys map[string]signing.Key) error {
	for i := range o.Peers {
		p := &o.Peers[i]
		k, ok := keys[p.Name]
		if !ok {
			continue
		}
		opened, err := squidpeer.Publish(ctx, filepath.Join(r.publish, p.Name), k.Key, o.Log.With("peer", p.Name))
		if err != nil {
			for _, before := range o.Peers[:i] {
				err = errors.Join(err, before.Publication.Close(ctx))
			}
			return fmt.Errorf("publication of %s: %w", p.Name, err)
		}
		p.Publication = opened
	}
	return nil
}

package verbs

import (
	"crypto/x509"
	"errors"
	"fmt"
	"math"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/files/spec"
	"github.com/umbel-filters/umbel/cmd/internal/publish/publisher"
	"github.com/umbel-filters/umbel/cmd/internal/publish/signing"
	"github.com/umbel-filters/umbel/cmd/internal/webcache/sidecar"
	"github.com/umbel-filters/umbel/siblings"
)

// meshFlags are the flags of a cache among siblings: those that umbel-cache siblings and umbel-cache serve have in common.
type meshFlags struct {
	mesh              siblings.Options
	publish           string
	cache, key, token string
	authorities       string
	peers, squids     []string
	deny              []string
	rate              quantity.Rate
	maxHeld           quantity.Count
}

// add adds the flags to a command.
func (f *meshFlags) add(cmd *cobra.Command) {
	flags, o := cmd.Flags(), &f.mesh
	flags.StringVar(&f.publish, "publish-listen", "", "`HOST:PORT` for siblings (default that of --listen)")
	flags.StringVar(&f.cache, "cache-url", "", "`URL` of the cache, as siblings reach it")
	flags.StringVar(&f.key, "key", "", "`FILE` with the private key, made by umbel keygen")
	flags.StringVar(&f.token, "secret-file", "", "`FILE` with the secret of all siblings, at least 16 characters")
	flags.StringVar(&f.authorities, "cacert", "", "`FILE` of trusted certificates of siblings with https URLs, PEM (default those of the system)")
	flags.StringArrayVar(&f.peers, "peer", nil, "`NAME=URL,KEY` of a sibling; once for each")
	flags.StringArrayVar(&f.squids, "squid-peer", nil, "`NAME=URL` of a Squid that is a sibling and has no sidecar; once for each")
	flags.BoolVar(&o.SquidDigest, "squid-digest", false, "let Squids read what is published as a cache digest, without the secret")
	flags.StringVar(&o.Host, "host", "", "`HOST` of keys and requests, if caches change the Host header")
	flags.BoolVar(&o.Cookies, "ignore-cookies", false, "try siblings for requests with cookies too, without these")
	flags.StringSliceVar(&f.deny, "deny-query", nil, "never publish URLs with these `PARAMETERS` in the query, such as token,signature")
	quantity.DurationVar(flags, &o.Period, "period", time.Second, "`DURATION` between two versions of the publication")
	flags.Var((*publisher.Share)(&o.WhenChanged), "when-changed", "publish when this `SHARE` of the cells has changed (default: any change)")
	quantity.DurationVar(flags, &o.Patience, "patience", 40*time.Millisecond, "`DURATION` that siblings have to answer before the origin is requested")
	flags.VarP(&f.rate, "fpr", "p", "false-positive `RATE` of the publication (default 1%)")
	f.maxHeld = 1_000_000
	flags.Var(&f.maxHeld, "max-held", "publish at most this `NUMBER` of responses")
	flags.Lookup("fpr").DefValue, flags.Lookup("when-changed").DefValue = "", ""
	spec.Group(flags, "What is published, and how siblings are queried", "publish-listen", "cacert", "squid-peer", "squid-digest",
		"host", "ignore-cookies", "deny-query", "period", "patience", "fpr", "max-held", "when-changed")
}

// meshNames returns the names of the flags.
func meshNames() (names []string) {
	var f meshFlags
	cmd := new(cobra.Command)
	f.add(cmd)
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}

// complete reads the values and the files of the flags.
func (f *meshFlags) complete() (err error) {
	o := &f.mesh
	if f.cache != "" {
		if o.Cache, err = sidecar.ParseAddress(f.cache); err != nil {
			return cli.UsageError(fmt.Errorf("--cache-url %w", err))
		}
	}
	if u, err := url.Parse("http://" + o.Host); o.Host != "" && (err != nil || u.Host != o.Host || u.Hostname() == "" || strings.ContainsAny(o.Host, " \t")) {
		return cli.UsageError(fmt.Errorf("--host %.80q: want a host as in the header Host, such as example.org or example.org:8080", o.Host))
	}
	if err := cli.CheckListen("publish-listen", f.publish); err != nil {
		return err
	}
	if f.maxHeld == 0 {
		return cli.UsageError(errors.New("--max-held is 0, want at least 1"))
	}
	o.Rate, o.MaxHeld, o.Deny = float64(f.rate), int(min(f.maxHeld, math.MaxInt32)), siblings.DenyQuery(f.deny)
	for _, p := range f.peers {
		peer, err := sidecar.ParsePeer(p, cli.ParsePublicKey)
		if err != nil {
			return cli.UsageError(fmt.Errorf("--peer %w", err))
		}
		o.Peers = append(o.Peers, peer)
	}
	for _, p := range f.squids {
		peer, err := sidecar.ParseSquid(p)
		if err != nil {
			return cli.UsageError(fmt.Errorf("--squid-peer %w", err))
		}
		o.Peers = append(o.Peers, peer)
	}
	if f.authorities != "" {
		pem, err := os.ReadFile(f.authorities)
		if err != nil {
			return err
		}
		o.RootCAs = x509.NewCertPool()
		if !o.RootCAs.AppendCertsFromPEM(pem) {
			return fmt.Errorf("%s: no certificate in PEM", f.authorities)
		}
	}
	b, err := os.ReadFile(f.token)
	if err != nil {
		return err
	}
	if o.Token, err = sidecar.ParseToken(b); err != nil {
		return fmt.Errorf("%s: %w", f.token, err)
	}
	k, err := signing.Read(f.key)
	o.Key = k.Key
	return err
}

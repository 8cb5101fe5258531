// Package verbs has the verbs of umbel-cache: the HTTP cache, caches next to it, and the digests of Squid.
package verbs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/durable/disk"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/files/spec"
	"github.com/umbel-filters/umbel/cmd/internal/report"
	"github.com/umbel-filters/umbel/cmd/internal/webcache/cacheserver"
)

const cacheHelp = `Run a shared HTTP cache; see docs/cache.md. With --origin it is in front of a server. Without, it is a
forward proxy: clients name it as their proxy (http_proxy, https_proxy). It stores http: responses;
https: goes through a tunnel and is not stored.

It keeps 256 MiB in memory, or with --disk more in a directory. Clients that want the same response at
the same time wait for one request to the origin. Responses to one user are not stored: private ones, those that
set cookies, and those to requests with Authorization unless they say that they may be.

With --siblings it also uses what sibling caches hold, and publishes what it stores; see docs/siblings.md. The
flags from --cache-url to --secret-file are those of umbel-cache siblings, and need --siblings.

^C and SIGTERM stop it after the answers that are being sent, and it prints its counters; a second one stops it at
once.`

const cacheReference = `With --tls-cert and --tls-key clients connect with TLS; the files are read again after they changed. The origin gets
X-Forwarded-Proto: https then. Behind a server that ends TLS, --site-scheme https states the same.

Each answer states in Cache-Status (RFC 9211) where it comes from. --status serves counters: as text at /,
as JSON at /status.json, and for Prometheus at /metrics.`

const cacheExample = `  umbel-cache serve                             # http_proxy=http://127.0.0.1:8080
  umbel-cache serve --origin http://127.0.0.1:8000 --listen :80 --status 127.0.0.1:8081
  umbel-cache serve --origin https://example.org --disk /var/cache/umbel --disk-size 50GiB
  umbel-cache serve --origin http://10.0.0.9 --listen 10.0.0.1:80 --siblings --key north.key --secret-file token \
    --host www.example.org --peer south=http://10.0.0.2,south.pub`

// leastStore is the least size of a store. A response takes 4 KiB on disk or more, and a body an eighth of the store at most.
const leastStore = quantity.Size(1 << 20)

// shutdownPatience is the time for answers that are being sent.
const shutdownPatience = 30 * time.Second

// serveOptions are the options of umbel-cache serve.
type serveOptions struct {
	cacheserver.Config
	origin                    string
	memory, diskSize, largest quantity.Size
	ports                     []uint
	logFormat                 string
	siblings                  bool
	mesh                      meshFlags
}

func serveCommand() *cobra.Command {
	o := &serveOptions{memory: 256 << 20, diskSize: 10 << 30}
	o.Name = "umbel"
	cmd := &cobra.Command{
		Use:         "serve",
		Short:       "run a shared HTTP cache",
		Long:        cacheHelp,
		Annotations: cli.Reference(cacheReference),
		Example:     cacheExample,
		Args:        cli.NoArguments,
	}
	o.add(cmd)
	return cli.Verb(cmd, o.run)
}

// add adds the flags.
func (o *serveOptions) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.Listen, "listen", "127.0.0.1:8080", "serve clients at `HOST:PORT`")
	flags.StringVar(&o.Status, "status", "", "serve counters at `HOST:PORT`: text; JSON at /status.json; Prometheus at /metrics")
	flags.StringVar(&o.origin, "origin", "", "`URL` of the origin, such as http://127.0.0.1:8000; without it the cache is a forward proxy")
	flags.Var(&o.memory, "store-memory", "`SIZE` of the store in memory")
	flags.StringVar(&o.Disk, "disk", "", "store in `DIRECTORY` instead of memory")
	flags.Var(&o.diskSize, "disk-size", "`SIZE` of the store on disk, with --disk")
	flags.Var(&o.largest, "largest-body", "do not store bodies above this `SIZE` (default an eighth of the store)")
	quantity.DurationVar(flags, &o.Disconnected, "stale-for", time.Hour, "use stale responses for this `DURATION` if the origin cannot be reached")
	flags.UintSliceVar(&o.ports, "tunnel-ports", []uint{443}, "`PORTS` to which a forward proxy makes tunnels (CONNECT)")
	flags.StringVar(&o.Name, "name", o.Name, "`NAME` of the cache in Cache-Status and Via")
	flags.StringVar(&o.Scheme, "site-scheme", "", "`SCHEME`, http or https, with which clients reach the site: stated to "+
		"the origin in X-Forwarded-Proto (default https with --tls-cert)")
	cli.AddLogFormatFlag(cmd, &o.logFormat)
	flags.StringVar(&o.TLSCert, "tls-cert", "", "PEM `FILE` with the certificate chain; enables TLS for clients and siblings")
	flags.StringVar(&o.TLSKey, "tls-key", "", "PEM `FILE` with the key of the certificate")
	flags.BoolVar(&o.siblings, "siblings", false, "use what sibling caches hold, and publish what this one stores")
	cli.Needs(cmd, "tls-cert", "tls-key", "its key with --tls-key FILE")
	cli.Needs(cmd, "tls-key", "tls-cert", "the certificate with --tls-cert FILE")
	o.mesh.add(cmd)
	cli.Needs(cmd, "siblings", "key", "the private key with --key, made by umbel keygen")
	cli.Needs(cmd, "siblings", "secret-file", "the secret of all siblings with --secret-file")
	spec.Group(flags, "Flags of --siblings, which umbel-cache siblings describes", meshNames()...)
	for _, name := range meshNames() {
		cli.Needs(cmd, name, "siblings", "--siblings")
	}
	cli.Needs(cmd, "host", "origin", "--origin: the requests of a forward proxy have the host of their URL")
	cli.Exclusive(cmd, "store-memory", "disk")
	cli.Exclusive(cmd, "origin", "tunnel-ports")
	cli.Needs(cmd, "site-scheme", "origin", "--origin: the URLs of a forward proxy have a scheme")
	cli.Needs(cmd, "disk-size", "disk", "--disk DIRECTORY")
}

// complete checks the values of the flags, and reads the files that they name.
func (o *serveOptions) complete() (err error) {
	if o.Origin, err = originURL(o.origin); err != nil {
		return cli.UsageError(err)
	}
	if err := o.check(); err != nil {
		return cli.UsageError(err)
	}
	if err := cmp.Or(cli.CheckListen("listen", o.Listen), cli.CheckListen("status", o.Status)); err != nil {
		return err
	}
	o.Memory, o.DiskSize, o.Largest = int64(o.memory), int64(o.diskSize), int64(o.largest)
	for _, port := range o.ports {
		o.TunnelPorts = append(o.TunnelPorts, strconv.FormatUint(uint64(port), 10))
	}
	if !o.siblings {
		return nil
	}
	if err := o.mesh.complete(); err != nil {
		return err
	}
	o.Siblings = &cacheserver.Siblings{Options: o.mesh.mesh, Publish: o.mesh.publish}
	return nil
}

// check returns an error for the first value that is out of range.
func (o *serveOptions) check() error {
	store, flag := o.memory, "store-memory"
	if o.Disk != "" {
		store, flag = o.diskSize, "disk-size"
	}
	switch {
	case !isToken(o.Name):
		return fmt.Errorf("--name %q: want letters, digits, dots and hyphens", o.Name)
	case o.Disconnected < 0:
		return fmt.Errorf("--stale-for is %v, want at least 0", o.Disconnected)
	case o.Scheme != "" && o.Scheme != "http" && o.Scheme != "https":
		return fmt.Errorf("--site-scheme %q: want http or https", o.Scheme)
	case store < leastStore:
		return fmt.Errorf("--%s is %v, so that hardly anything could be stored; want at least %v", flag, store, leastStore)
	case o.largest > store:
		return fmt.Errorf("--largest-body is %v, above the %v of --%s; want at most that", o.largest, store, flag)
	}
	return nil
}

// originURL parses --origin.
func originURL(s string) (*url.URL, error) {
	if s == "" {
		return nil, nil
	}
	u, err := url.Parse(s)
	if !strings.Contains(s, "://") {
		return nil, fmt.Errorf("--origin %q has no scheme: want a URL such as http://%s", s, s)
	}
	if err == nil && u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("--origin %q has the scheme %s: want http or https", s, u.Scheme)
	}
	if err != nil || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("--origin %q: want a URL without a path, such as http://127.0.0.1:8000", s)
	}
	return u, nil
}

// isToken reports whether a name may be a token of HTTP headers.
func isToken(s string) bool {
	for _, c := range s {
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '-' && c != '.' {
			return false
		}
	}
	return s != ""
}

// run serves until a signal.
func (o *serveOptions) run(ctx context.Context, streams *cli.Streams, _ []string) error {
	if err := o.complete(); err != nil {
		return err
	}
	c, logFormat := o.Config, o.logFormat
	ctx, stop := streams.SignalContext(ctx)
	defer stop()
	level := slog.LevelInfo
	if streams.Quiet {
		level = slog.LevelError
	}
	c.Log = report.New(streams.Err, logFormat, level)
	if c.Siblings != nil {
		c.Siblings.Log = c.Log
	}
	s, err := cacheserver.Start(c)
	if errors.Is(err, disk.ErrLocked) {
		return fmt.Errorf("another umbel-cache uses %s; stop it, or use another directory", c.Disk)
	}
	if errors.Is(err, syscall.ENOTDIR) {
		return fmt.Errorf("--disk %s: want a directory, or a name that does not exist", c.Disk)
	}
	if err != nil {
		return err
	}
	if c.Origin == nil && !s.Local() {
		streams.Warn("everyone who reaches %s can use the proxy; allow only your clients in the firewall", s.Addr())
	}
	select {
	case <-ctx.Done():
	case err = <-s.Failed():
	}
	stop() // a second signal ends the process
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownPatience)
	defer cancel()
	r := s.Report()
	if err = errors.Join(err, s.Shutdown(ending)); err != nil || streams.Quiet {
		return err
	}
	return streams.Answer(r, r.Write)
}

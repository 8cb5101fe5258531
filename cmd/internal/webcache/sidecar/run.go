package sidecar

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/report/eventlog"
	"github.com/umbel-filters/umbel/internal/hop"
	"github.com/umbel-filters/umbel/siblings"
)

// drain is the time that requests have to end after ctx.
const drain = 5 * time.Second

// Run runs a sidecar until ctx ends, and then returns nil after requests have been answered. It calls ready when it listens. The
// error is that of a listener, of a log that can't be read, or of the publication.
func Run(ctx context.Context, c Config, ready func(Addresses)) error {
	if c.Mesh.Log == nil {
		c.Mesh.Log = slog.New(slog.DiscardHandler)
	}
	if err := c.checkLogs(); err != nil {
		return err
	}
	l, err := c.listen()
	if err != nil {
		return err
	}
	defer l.close()
	m, err := siblings.New(ctx, c.Mesh)
	if err != nil {
		return err
	}
	fetched := new(fetches)
	handler, err := c.handler(m, fetched)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var group sync.WaitGroup
	task := func(run func(context.Context) error) {
		group.Go(func() {
			if err := run(ctx); err != nil && ctx.Err() == nil {
				stop(err)
			}
		})
	}
	serve := func(l net.Listener, h http.Handler) {
		if l != nil {
			task(func(ctx context.Context) error { return serveUntil(ctx, l, h, c.Mesh.Log) })
		}
	}
	serve(l.cache, handler)
	serve(l.publish, m.Publication())
	serve(l.status, hop.Bodiless(statusPage(m)))
	c.follow(task, m, fetched)
	task(m.Run)
	c.Mesh.Log.Info("ready", append(l.addresses().Attributes(), "origin", c.Origin.String(), "peers", len(c.Mesh.Peers))...)
	ready(l.addresses())
	<-ctx.Done()
	group.Wait()
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	c.Mesh.Log.Info("stopped")
	return nil
}

// handler returns what the cache connects to.
func (c *Config) handler(m *siblings.Mesh, fetched *fetches) (http.Handler, error) {
	build := m.Sidecar
	if c.Publish != "" {
		build = m.Handler
	}
	h, err := build(c.Origin)
	if err != nil || c.VarnishLog == "" {
		return h, err
	}
	return fetched.note(h, c.Origin.Scheme, c.Mesh.Host), nil
}

// checkLogs returns an error if a log of the cache cannot be read, and warns if one is missing: the cache may start
// later.
func (c *Config) checkLogs() error {
	for flag, name := range map[string]string{"--squid-store-log": c.SquidStoreLog, "--varnish-log": c.VarnishLog} {
		if name == "" || name == "-" {
			continue
		}
		f, err := os.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			c.Mesh.Log.Warn("the log of the cache does not exist; until it does, an eviction costs a sibling a request in vain", "flag", flag, "file", name)
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", flag, err)
		}
		f.Close()
	}
	return nil
}

// serveUntil serves until ctx ends.
func serveUntil(ctx context.Context, l net.Listener, h http.Handler, log *slog.Logger) error {
	server := &http.Server{
		Handler:                      h,
		ReadHeaderTimeout:            10 * time.Second,
		IdleTimeout:                  2 * time.Minute,
		ErrorLog:                     eventlog.ServerLog(log),
		DisableGeneralOptionsHandler: true, // OPTIONS * is for the origin
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	if err := server.Shutdown(ending); err != nil {
		server.Close()
	}
	<-failed
	return nil
}

// Addresses are where a sidecar listens. Publish and Status are empty if it does not.
type Addresses struct{ Cache, Publish, Status string }

func (l listeners) addresses() Addresses {
	text := func(l net.Listener) string {
		if l == nil {
			return ""
		}
		return l.Addr().String()
	}
	return Addresses{text(l.cache), text(l.publish), text(l.status)}
}

// Attributes returns the addresses for a log.
func (a Addresses) Attributes() []any {
	list := []any{"listen", a.Cache}
	if a.Publish != "" {
		list = append(list, "publish", a.Publish)
	}
	if a.Status != "" {
		list = append(list, "status", "http://"+strings.TrimSuffix(a.Status, "/")+"/")
	}
	return list
}

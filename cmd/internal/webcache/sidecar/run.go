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

	"github.com/umbel-filters/umbel/cmd/internal/service"
	"github.com/umbel-filters/umbel/internal/event"
	"github.com/umbel-filters/umbel/internal/hop"
	"github.com/umbel-filters/umbel/siblings"
	"golang.org/x/sync/errgroup"
)

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
	g := service.NewGroup()
	serve := func(flag string, l net.Listener, h http.Handler) {
		if l != nil {
			server := service.NewServer(h, c.Mesh.Log)
			server.DisableGeneralOptionsHandler = true // OPTIONS * is for the origin
			g.Serve(flag, server, l)
		}
	}
	serve("--listen", l.cache, handler)
	serve("--publish-listen", l.publish, m.Publication())
	serve("--status", l.status, hop.Bodiless(statusPage(m)))
	c.Mesh.Log.Info("ready", append(l.addresses().attributes(), event.Ready, "origin", c.Origin.String(), "peers", len(c.Mesh.Peers))...)
	ready(l.addresses())
	err = g.Run(ctx, service.Drain, func(ctx context.Context) error {
		tasks, ctx := errgroup.WithContext(ctx)
		c.follow(ctx, tasks.Go, m, fetched)
		tasks.Go(func() error { return m.Run(ctx) })
		return tasks.Wait()
	})
	if err == nil {
		c.Mesh.Log.Info("stopped", event.Stopped)
	}
	return err
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
			c.Mesh.Log.Warn("the log of the cache does not exist; until it does, an eviction costs a sibling a request in vain",
				event.LogMissing, "flag", flag, "file", name)
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", flag, err)
		}
		f.Close()
	}
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

// attributes returns the addresses for a log.
func (a Addresses) attributes() []any {
	list := []any{"listen", a.Cache}
	if a.Publish != "" {
		list = append(list, "publish", a.Publish)
	}
	if a.Status != "" {
		list = append(list, "status", "http://"+strings.TrimSuffix(a.Status, "/")+"/")
	}
	return list
}

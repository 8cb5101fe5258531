package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/report"
)

// Limits for clients of [NewServer].
const (
	headerTime = 10 * time.Second // to send the header of a request
	idleTime   = 2 * time.Minute  // between two requests
	maxHeader  = 64 << 10         // bytes
)

// NewServer returns an HTTP server that disconnects clients that send a header slowly or are idle, and logs faults of
// connections. The caller may set stricter limits, and limits for bodies and answers.
func NewServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          report.ServerLog(log, nil),
	}
}

// Drain is the time that the requests that have begun have at the end of most programs.
const Drain = 10 * time.Second

// Server is what a Group runs: http.Server, or resp.Server.
type Server interface {
	// Serve accepts clients until Shutdown, or until the listener fails.
	Serve(net.Listener) error
	// Shutdown closes the listeners and waits for the requests that have begun until ctx is done.
	Shutdown(ctx context.Context) error
}

// Group runs servers together. Its methods may be called concurrently, but no server may be added during Shutdown.
type Group struct {
	failed  chan error
	ending  atomic.Bool
	mu      sync.Mutex
	servers []Server
	serving sync.WaitGroup
}

// NewGroup returns a group without servers.
func NewGroup() *Group { return &Group{failed: make(chan error, 1)} }

// Serve begins to serve a listener, which Shutdown closes. A server may have several listeners. name begins the error of a listener that fails.
func (g *Group) Serve(name string, s Server, l net.Listener) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !slices.Contains(g.servers, s) {
		g.servers = append(g.servers, s)
	}
	g.serving.Go(func() {
		if err := s.Serve(l); !g.ending.Load() {
			g.Fail(fmt.Errorf("%s: %w", name, err))
		}
	})
}

// Fail ends the program with an error, unless it is nil or another came first.
func (g *Group) Fail(err error) {
	if err == nil {
		return
	}
	select {
	case g.failed <- err:
	default:
	}
}

// Failed receives the first error of a listener, or of Fail.
func (g *Group) Failed() <-chan error { return g.failed }

// Shutdown ends all servers at once, and returns when none serves. Clients whose requests have not been answered when ctx is
// done are disconnected; then the error is that of ctx.
func (g *Group) Shutdown(ctx context.Context) error {
	g.ending.Store(true)
	g.mu.Lock()
	servers := g.servers
	g.mu.Unlock()
	var all sync.WaitGroup
	errs := make([]error, len(servers))
	for i, s := range servers {
		all.Go(func() {
			errs[i] = s.Shutdown(ctx)
			if c, ok := s.(io.Closer); ok && errs[i] != nil {
				_ = c.Close() // the error is that of Shutdown
			}
		})
	}
	all.Wait()
	g.serving.Wait()
	return errors.Join(errs...)
}

// Run calls work, and returns after ctx has ended, work has returned or the group has failed; the context of work ends then. Before,
// it waits for work, and for at most drain for the requests that have begun. The error is that of
// the group and that of work, unless it is context.Canceled.
func (g *Group) Run(ctx context.Context, drain time.Duration, work func(context.Context) error) error {
	working, stop := context.WithCancel(ctx)
	defer stop()
	worked := make(chan error, 1)
	go func() {
		err := work(working)
		worked <- err
		stop()
	}()
	var err error
	select {
	case err = <-g.failed:
	case <-working.Done():
	}
	stop()
	draining, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	_ = g.Shutdown(draining) // the clients that it disconnected had their time
	if ended := <-worked; !errors.Is(ended, context.Canceled) {
		err = errors.Join(err, ended)
	}
	return err
}

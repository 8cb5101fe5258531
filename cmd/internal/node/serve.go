package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/durable/disk"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/http/httpapi"
	"github.com/umbel-filters/umbel/cmd/internal/node/metrics"
	"github.com/umbel-filters/umbel/cmd/internal/redis/builtin"
	"github.com/umbel-filters/umbel/cmd/internal/redis/command"
	"github.com/umbel-filters/umbel/cmd/internal/redis/redisbloom"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
	"github.com/umbel-filters/umbel/cmd/internal/redis/um"
	"github.com/umbel-filters/umbel/cmd/internal/report"
	"github.com/umbel-filters/umbel/cmd/internal/service"
	"github.com/umbel-filters/umbel/internal/event"
)

// interfaces are what clients connect to.
type interfaces struct {
	tls       *service.TLS // nil: no TLS
	listeners listeners
	servers   *service.Group
	resp      *resp.Server
	bloom     *redisbloom.Module
	monitor   *builtin.Monitor
	metrics   *metrics.Metrics
}

// serve starts accepting clients.
func (n *Node) serve() error {
	h, err := hashersOf(n.config)
	if err != nil {
		return err
	}
	n.resp = n.newRESP(n.commands(h))
	if n.config.Metrics != off {
		n.metrics = metrics.New(metrics.Options{
			Engine: n.engine, Status: n.store.Status, Clients: n.clients, Totals: n.totals, Publications: n.publications.List,
			Subscriptions: n.following.List, Group: n.groupStatus, Disk: n.latencies, Usage: n.resp.Usage,
			Filters: n.config.MetricsFilters, Every: 15 * time.Second, Version: version(),
		})
	}
	if l := n.listeners.resp; l != nil {
		n.servers.Serve("resp", n.resp, n.tls.Listener(l))
	}
	if l := n.listeners.unix; l != nil {
		n.servers.Serve("unix", n.resp, l)
	}
	if l := n.listeners.http; l != nil {
		n.serveHTTP("http", l, n.api(h))
	}
	if l := n.listeners.metrics; l != nil {
		n.serveHTTP("metrics", l, httpapi.Protect(n.onlyReaders(n.metrics.Handler()), n.config.hosts(n.config.Metrics)))
	}
	return nil
}

// commands returns all commands of Redis clients.
func (n *Node) commands(h hashers) resp.Table {
	c := n.config
	n.bloom = redisbloom.New(n.engine, redisbloom.Options{
		ErrorRate: c.BFErrorRate, Capacity: c.BFInitialSize, Expansion: c.BFExpansionFactor,
		Hasher: h.bloom, Atomic: c.AtomicMADD, Cuckoo: c.Cuckoo, Fixed: c.Replica,
	})
	table := resp.Table{}
	for _, t := range []resp.Table{
		n.bloom.Commands(),
		builtin.Commands(n.engine, process{n}, n.bloom, n.monitor),
		um.Commands(n.engine, um.Options{Hasher: h.other, Publish: n.publishNow}),
	} {
		for name, cmd := range t {
			if table[name] != nil {
				panic(fmt.Sprintf("duplicate command %s", name))
			}
			table[name] = cmd
		}
	}
	return table
}

func (n *Node) newRESP(table resp.Table) *resp.Server {
	o := resp.Options{
		Commands: table,
		Wait:     n.waitFor,
		Kept:     func(pos uint64) bool { return n.store.Kept(engine.Position(pos)) },
		Room:     n.store.Room,
		HasRoom:  n.store.HasRoom,
		Busy:     n.engine.Busy,
		Settle:   n.engine.Settle,
		Slots:    n.place,
		Follows:  n.follows,
		Version:  n.version,
		Observe:  n.observe,
		Limits:   limitsOf(n.config),
		Loops:    n.config.loops,
		Budget:   n.budget,
		Redis:    redisVersion, Modules: []resp.Module{{Name: "bf", Version: bloomVersion}},
		Log: n.log.With("part", "resp"),
	}
	if n.config.Replica {
		o.ReadOnly = command.ReadOnly
	}
	if n.users == nil {
		o.Default = command.Everyone()
	} else {
		o.Auth, o.Default, o.Allow = n.login, n.defaultUser, n.allow
	}
	return resp.NewServer(o)
}

// waitFor waits until a change is durable. Its error is the reply to Redis clients.
func (n *Node) waitFor(ctx context.Context, pos uint64) error {
	if err := n.store.Wait(ctx, engine.Position(pos)); err != nil {
		return errors.New(command.Unkept(err))
	}
	return nil
}

// version returns a number that changes with the filter of a name.
func (n *Node) version(key []byte) uint64 {
	f := n.engine.Get(key)
	if f == nil {
		return 0
	}
	// IDs differ between filters, and versions within one filter.
	return f.ID()<<32 ^ f.Version() + 1
}

// observe records commands that ran.
func (n *Node) observe(c *resp.Conn, cmd *resp.Command, calls int, took time.Duration) {
	n.monitor.Observe(c, cmd, calls, took)
	n.record(c, cmd)
}

// totals returns the totals of all clients for metrics.
func (n *Node) totals() metrics.Totals {
	r := n.resp.Stats()
	t := metrics.Totals{
		Connections: r.Connections, Rejected: r.Rejected, Errors: r.Errors, Read: r.Read, Written: r.Written,
		HTTPConnections: n.httpAccepted.Load(), HTTPRejected: n.httpRejected.Load(),
		Handshakes: r.Handshakes, HTTPHandshakes: n.handshakes.Load(),
	}
	if n.users != nil {
		t.FailedLogins = n.users.Failed()
	}
	return t
}

// clients returns the number of Redis connections.
func (n *Node) clients() (k int) {
	n.resp.Clients(func(*resp.Conn) { k++ })
	return k
}

// api returns the HTTP handler.
func (n *Node) api(h hashers) http.Handler {
	o := httpapi.Options{
		Engine:       n.engine,
		Wait:         n.store.Wait,
		Room:         n.store.Room,
		Users:        n.users,
		Audit:        n.audit,
		Hasher:       h.other,
		MaxBody:      int64(n.config.MaxBody),
		Hosts:        n.config.hosts(n.config.HTTP),
		Ready:        n.Ready,
		Writable:     n.Writable,
		Status:       n.status,
		Slots:        n.place,
		Publications: n.publications,
		Profile:      n.config.Pprof,
		Rates:        n.rates,
		Budget:       n.budget,
		Disk:         n.copies,
		Serving:      n.serving,
		Log:          n.log.With("part", "http"),
	}
	if n.config.Replica {
		o.Subscriptions = n.following
	} else {
		o.Dir, o.Backup, o.Snapshot = disk.OS(copiesDir(n.config.Data)), n.store.Backup, n.store.Snapshot
	}
	if n.metrics != nil {
		o.Observe = n.metrics.Request
	}
	if n.config.Metrics == "http" {
		o.Metrics = n.metrics.Handler()
	}
	if n.member != nil {
		o.Leader = func() string { return n.member.Leader().HTTP }
		o.TakeOver, o.Leave = n.takeOver, n.leave
	}
	return n.positioned(httpapi.New(o))
}

// serveHTTP serves HTTP on l.
func (n *Node) serveHTTP(name string, l net.Listener, h http.Handler) {
	l = &connLimiter{Listener: l, most: func() int { return n.limits.Load().MaxClients }, accepted: &n.httpAccepted, rejected: &n.httpRejected}
	n.servers.Serve(name, n.webServer(name, exitOnPanic(h, n.log.With("part", name))), n.tls.Listener(l, "h2", "http/1.1"))
}

// webServer returns an HTTP server, whose failed handshakes are counted.
func (n *Node) webServer(part string, h http.Handler) *http.Server {
	log := n.log.With("part", part)
	s := service.NewServer(h, log)
	s.ErrorLog = report.ServerLog(log, &n.handshakes)
	return s
}

// exitOnPanic returns a handler that ends the process if h panics, as a panic in a command of a
// Redis client does. The request may hold a filter's lock and may have changed it half; net/http
// would recover and continue. http.ErrAbortHandler only ends the response.
func exitOnPanic(h http.Handler, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			switch v := recover(); v {
			case nil:
			case http.ErrAbortHandler:
				panic(v)
			default:
				log.Error("panic in an HTTP request; the process ends", event.Panic, "panic", fmt.Sprint(v), "method", r.Method,
					"path", r.URL.EscapedPath(), "stack", string(debug.Stack()))
				os.Exit(2)
			}
		}()
		h.ServeHTTP(w, r)
	})
}

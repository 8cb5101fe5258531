package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/access"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/httpapi"
	"github.com/umbel-filters/umbel/cmd/internal/keyspace"
	"github.com/umbel-filters/umbel/cmd/internal/metrics"
	"github.com/umbel-filters/umbel/cmd/internal/oplog"
	"github.com/umbel-filters/umbel/cmd/internal/redisbloom"
	"github.com/umbel-filters/umbel/cmd/internal/resp"
	"github.com/umbel-filters/umbel/cmd/internal/store"
	"github.com/umbel-filters/umbel/filter"
)

// Node is a node that serves. Its methods may be called concurrently.
type Node struct {
	config Config
	began  time.Time
	found  store.Report
	log    *slog.Logger
	level  *slog.LevelVar
	audit  access.Audit

	users *access.Users // nil: everyone may do all
	tls   *access.TLS   // nil: nothing is encrypted

	oplog   oplog.Log
	engine  *engine.Engine
	store   *store.Store
	bloom   *redisbloom.Module
	monitor *keyspace.Monitor
	metrics *metrics.Metrics

	listeners listeners
	resp      *resp.Server
	web       []*http.Server
	tasks     sync.WaitGroup
	stop      context.CancelFunc // of tasks
	working   context.Context    // until stop

	limits   atomic.Pointer[Config] // of which the limits of clients are in force
	rates    *httpapi.Rates
	draining atomic.Bool
	asked    chan struct{} // closed when a client asks for the end
	ask      sync.Once
	failed   chan error // what a listener that failed said
	end      sync.Once
	ended    error
}

// Start begins to serve, and returns when clients can come. It logs to log, whose level it sets to
// what the settings say if level isn't nil. ctx is for the start alone. On an error nothing is left
// running.
func Start(ctx context.Context, c Config, log *slog.Logger, level *slog.LevelVar) (_ *Node, err error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if level == nil {
		level = new(slog.LevelVar)
	}
	n := &Node{
		config: c, began: time.Now(), log: log, level: level, audit: access.NewAudit(log),
		monitor: keyspace.NewMonitor(), asked: make(chan struct{}), failed: make(chan error, 4),
	}
	n.limits.Store(&c)
	n.rates = httpapi.NewRates(c.HTTPRate)
	n.setLevel(c.LogLevel)
	n.working, n.stop = context.WithCancel(context.WithoutCancel(ctx))
	defer func() {
		if err != nil {
			err = errors.Join(err, n.abandon())
		}
	}()
	if err := n.secure(); err != nil {
		return nil, err
	}
	if n.listeners, err = listen(c); err != nil {
		return nil, err
	}
	if err := n.recover(ctx); err != nil {
		return nil, err
	}
	if err := n.serve(); err != nil {
		return nil, err
	}
	n.keepHouse()
	n.log.Info("ready", "resp", text(n.RESP()), "http", text(n.HTTP()), "metrics", text(n.Metrics()), "tls", n.tls != nil, "users", n.users != nil,
		"data", c.Data, "filters", n.found.Filters, "bytes", n.found.Bytes, "batches", n.found.Batches, "changes", n.found.Changes,
		"digests", n.found.Digests, "recovery", n.found.Took.String(), "durability", c.Durability, "hash", n.hashes(), "memory", n.limit())
	return n, nil
}

// secure reads users and certificates.
func (n *Node) secure() (err error) {
	if n.config.Users != "" {
		if n.users, err = access.Load(n.config.Users); err != nil {
			return err
		}
	}
	if n.config.TLSCert == "" {
		return nil
	}
	n.tls, err = access.LoadTLS(n.config.TLSCert, n.config.TLSKey, n.config.TLSClientCA, n.config.TLSRequireClient)
	return err
}

// recover makes the filters again that the data directory keeps.
func (n *Node) recover(ctx context.Context) (err error) {
	c := n.config
	if err := os.MkdirAll(c.Data, 0o700); err != nil {
		return fmt.Errorf("data: %w", err)
	}
	if n.oplog, err = oplog.Open(ctx, logDir(c.Data), oplog.Options{Log: n.log.With("part", "log")}); err != nil {
		return fmt.Errorf("data directory %s: %w", c.Data, err)
	}
	// Copies of filters that were being sent when the last process ended; the directory is ours now.
	if err := errors.Join(os.RemoveAll(copiesDir(c.Data)), os.Mkdir(copiesDir(c.Data), 0o700)); err != nil {
		return fmt.Errorf("data: %w", err)
	}
	limit := memoryLimit(c.MaxMemory, 0)
	bound(limit)
	n.engine = newEngine(limit)
	percent := 100
	n.tasks.Go(func() { n.every(houseEvery, func() { percent = n.tidy(percent) }) })
	n.store, n.found, err = store.Open(ctx, n.oplog, n.engine, store.Options{
		Durability:       durabilities[c.Durability],
		CommitDelay:      c.CommitDelay,
		SnapshotInterval: c.SnapshotInterval,
		SnapshotBytes:    uint64(c.SnapshotBytes),
		AcceptLoss:       c.AcceptLoss,
		Log:              n.log.With("part", "store"),
	})
	if err != nil {
		return fmt.Errorf("data directory %s: %w", c.Data, err)
	}
	tellFound(n.log, n.found)
	return nil
}

// tellFound logs what wasn't as it should be.
func tellFound(log *slog.Logger, r store.Report) {
	if r.Torn != "" {
		log.Warn("the end of the log was cut: it was never acknowledged", "what", r.Torn)
	}
	for _, lost := range r.Lost {
		log.Error("lost", "what", lost)
	}
}

// durabilities are the values of the setting.
var durabilities = map[string]store.Durability{"always": store.Always, "everysec": store.EverySec, "none": store.None}

// logDir is where the log is in a data directory.
func logDir(data string) string { return filepath.Join(data, "log") }

// copiesDir is where copies of large filters are while they are sent.
func copiesDir(data string) string { return filepath.Join(data, "copies") }

// newEngine returns an engine with all kinds and no filters.
func newEngine(limit uint64) *engine.Engine {
	return engine.New(engine.Options{
		// The kind of CF.* too, also where CF.* isn't served: what was made stays.
		Kinds:     append(slices.Clone(filter.All), redisbloom.CuckooKind),
		Now:       func() int64 { return time.Now().UnixMilli() },
		MaxMemory: limit,
	})
}

// RESP returns the address where Redis clients come, nil if nowhere; HTTP and Metrics likewise.
func (n *Node) RESP() net.Addr    { return address(n.listeners.resp) }
func (n *Node) HTTP() net.Addr    { return address(n.listeners.http) }
func (n *Node) Metrics() net.Addr { return address(n.listeners.metrics) }

// Ready returns nil if the node takes changes, and why it doesn't otherwise.
func (n *Node) Ready() error {
	if n.draining.Load() {
		return errors.New("the node is about to end")
	}
	return n.store.Ready()
}

// Ending is closed when a client has asked for the end.
func (n *Node) Ending() <-chan struct{} { return n.asked }

// Failed yields an error if the node can't go on serving.
func (n *Node) Failed() <-chan error { return n.failed }

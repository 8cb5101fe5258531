package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/disk"
	"github.com/umbel-filters/umbel/cmd/internal/durable/snapfile"
	"github.com/umbel-filters/umbel/cmd/internal/durable/store"
	"github.com/umbel-filters/umbel/cmd/internal/durable/wal"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/group/member"
	"github.com/umbel-filters/umbel/cmd/internal/http/httpapi"
	"github.com/umbel-filters/umbel/cmd/internal/node/access"
	"github.com/umbel-filters/umbel/cmd/internal/node/metrics"
	"github.com/umbel-filters/umbel/cmd/internal/publish"
	"github.com/umbel-filters/umbel/cmd/internal/publish/replica"
	"github.com/umbel-filters/umbel/cmd/internal/redis/builtin"
	"github.com/umbel-filters/umbel/cmd/internal/redis/command"
	"github.com/umbel-filters/umbel/cmd/internal/redis/cuckoo"
	"github.com/umbel-filters/umbel/cmd/internal/redis/slots"
	"github.com/umbel-filters/umbel/cmd/internal/service"
	"github.com/umbel-filters/umbel/cmd/internal/service/budget"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/internal/event"
	"github.com/umbel-filters/umbel/internal/faultlog"
)

// Node is a running server. It is safe for concurrent use.
type Node struct {
	config Config
	began  time.Time
	log    *slog.Logger
	level  *slog.LevelVar
	audit  *access.Audit
	users  *access.Users // nil: everyone has all rights

	engine  *engine.Engine
	growth  growth        // that the limits refuse
	expired atomic.Uint64 // filters that sweep deleted
	// publications publishes filters; nil in a replica.
	publications *publish.Set
	following    *replica.Set   // nil unless the node is a replica
	member       *member.Member // nil unless the node is in a group
	latencies    *metrics.Latencies

	// place is that of the node in a slot map, nil without one.
	place *slots.Place

	data
	interfaces
	traffic
	lifecycle
}

// data is where a node keeps its filters. A replica has only the store.
type data struct {
	openLog openLog
	wal     *wal.Log
	store   keeper
	found   store.Report
	disk    *budget.Budget // bytes of the files of the data directory: max-disk
	copies  *budget.Budget // bytes of copies of filters that are being sent, a part of disk
	shared  *budget.Budget // bytes of publications in the data directory, a part of disk
}

// openLog opens the log of a data directory: wal.Open, except in tests.
type openLog func(dir string, o wal.Options) (*wal.Log, error)

// Start starts a server and returns when it accepts clients. It logs to log and sets level, which
// may be nil. ctx applies only to the start. On an error nothing keeps running.
func Start(ctx context.Context, c Config, log *slog.Logger, level *slog.LevelVar) (*Node, error) {
	return start(ctx, c, log, level, wal.Open)
}

func start(ctx context.Context, c Config, log *slog.Logger, level *slog.LevelVar, open openLog) (_ *Node, err error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if level == nil {
		level = new(slog.LevelVar)
	}
	n := &Node{
		config: c, began: time.Now(), log: log, level: level, audit: access.NewAudit(log),
		latencies:  new(metrics.Latencies),
		data:       data{openLog: open},
		interfaces: interfaces{monitor: builtin.NewMonitor(), servers: service.NewGroup()},
		lifecycle:  lifecycle{asked: make(chan struct{}), again: make(chan error, 1)},
	}
	n.limits.Store(&c)
	n.rates = httpapi.NewRates(c.HTTPRate)
	n.setLevel(c.LogLevel)
	n.working, n.stop = context.WithCancel(context.WithoutCancel(ctx))
	n.serving, n.endStreams = context.WithCancel(context.Background())
	defer func() {
		if err != nil {
			err = errors.Join(err, n.cleanup())
		}
	}()
	if err := n.secure(); err != nil {
		return nil, err
	}
	if n.listeners, err = listen(c); err != nil {
		return nil, err
	}
	if err := n.openPlace(); err != nil {
		return nil, err
	}
	if err := n.open(ctx); err != nil {
		return nil, err
	}
	n.followClock() // so that no key is found that expired while the node was off
	if err := n.serve(); err != nil {
		return nil, err
	}
	n.startBackground()
	return n, nil
}

// logReady logs what is served.
func (n *Node) logReady() {
	c := n.config
	if c.Replica {
		n.log.Info("replica ready", event.Ready, "resp", text(n.RESP()), "http", text(n.HTTP()), "unix", text(n.Unix()),
			"metrics", n.metricsAt(), "tls", n.tls != nil, "users", n.users != nil,
			"cache", c.Cache, "stale", c.Stale, "filters", n.engine.Len(), "limit", n.limit())
		return
	}
	n.log.Info("ready", event.Ready, "resp", text(n.RESP()), "http", text(n.HTTP()), "unix", text(n.Unix()),
		"metrics", n.metricsAt(), "tls", n.tls != nil, "users", n.users != nil,
		"data", c.Data, "filters", n.found.Filters, "bytes", n.found.Bytes, "batches", n.found.Batches, "changes", n.found.Changes,
		"digests", n.found.Digests, "took", n.found.Took, "durability", c.Durability, "hash", n.hashes(), "limit", n.limit())
}

// open opens the data directory, or what a replica follows.
func (n *Node) open(ctx context.Context) error {
	n.disk = budget.New(uint64(n.config.MaxDisk))
	n.copies, n.shared = n.disk.Part(0), n.disk.Part(0)
	if n.config.Replica {
		return n.follow(ctx)
	}
	err := n.recover(ctx)
	if n.isDamage(err) {
		n.log.Warn("data of this node are damaged; beginning with those of the group", event.DamageRepaired, "error", err)
		err = errors.Join(n.wal.Close(), member.Reset(n.config.Data))
		if err == nil {
			err = n.recover(ctx)
		}
	}
	if err != nil {
		return err
	}
	if err := n.publish(); err != nil {
		return fmt.Errorf("publications: %w", err)
	}
	if s, ok := n.store.(*store.Store); ok && n.member != nil {
		n.runMember(s)
	}
	return nil
}

// secure loads users and certificates.
func (n *Node) secure() (err error) {
	if n.config.Users != "" {
		if n.users, err = access.Load(n.config.Users); err != nil {
			return err
		}
	}
	if n.config.TLSCert == "" {
		return nil
	}
	n.tls, err = service.LoadTLS(n.config.TLSCert, n.config.TLSKey, n.config.TLSClientCA, n.config.TLSRequireClient)
	return err
}

// diskReserve is the size of the file that is deleted when the disk is full, in bytes. It has room for
// the changes that are queued then: see store.Options.
const diskReserve = 64 << 20

// recover restores the filters from the data directory.
func (n *Node) recover(ctx context.Context) (err error) {
	c := n.config
	if err := os.MkdirAll(c.Data, 0o700); err != nil {
		return fmt.Errorf("data: %w", err)
	}
	if c.Log != "" {
		if err := member.Prepare(c.Data, logDir(c.Data), snapshotsDir(c.Data)); err != nil {
			return fmt.Errorf("data: %w", err)
		}
	}
	if c.Log == "" && member.Belongs(c.Data) {
		return fmt.Errorf("data: %s is that of a member of a group, whose other members would not have what clients add here: give its log (--log), "+
			"or remove the file group-position in it if the node is to leave the group for ever", c.Data)
	}
	on, err := openData(ctx, c, n.log, n.openLog, n.disk, false)
	if err != nil {
		return err
	}
	n.wal = on.log
	// Remove copies left over by a process that was killed. The directory is locked by now.
	if err := removeCopies(ctx, func() (disk.Dir, error) { return disk.Make(copiesDir(c.Data)) }); err != nil {
		return fmt.Errorf("data: %w", err)
	}
	n.makeEngine(nil)
	l := n.startLoading()
	defer l.end()
	if c.Log != "" {
		if err := n.join(ctx, on); err != nil {
			return err
		}
	}
	if _, err := hashersOf(c); err != nil { // makes the seed that backups contain
		return err
	}
	kept, found, err := store.Open(ctx, n.wal, on.snapshots, n.engine, store.Options{
		Durability:       durabilities[c.Durability],
		CommitDelay:      c.CommitDelay,
		SnapshotInterval: c.SnapshotInterval,
		SnapshotBytes:    uint64(c.SnapshotBytes),
		Reserve:          diskReserve,
		Disk:             n.disk,
		Others:           n.shared,
		Seed:             seedOf(c.Data),
		Committed:        n.latencies.Commit,
		Synced:           n.latencies.Sync,
		AcceptLoss:       c.AcceptLoss,
		Lost:             on.lost,
		Follow:           n.member != nil,
		Log:              n.log.With("part", "store"),
	})
	logTorn(n.log, found)
	if n.found = found; err != nil {
		return fmt.Errorf("data directory %s: %w", c.Data, err)
	}
	n.store = kept
	logLoss(n.log, n.found)
	return nil
}

// logTorn logs what was discarded at the end of the log.
func logTorn(log *slog.Logger, r store.Report) {
	if r.Torn != "" {
		log.Warn("discarded an incomplete batch at the end of the log, which was never acknowledged", event.LogTorn, "what", r.Torn)
	}
}

// logLoss logs what a start lost, and the filters that lost data then or earlier.
func logLoss(log *slog.Logger, r store.Report) {
	for _, lost := range r.Lost {
		log.Error("data loss accepted", event.DataLost, "what", lost)
	}
	if r.Incomplete > 0 {
		log.Warn("data of filters was lost; their queries return true for every key until they are created again", event.FiltersIncomplete,
			"filters", r.Incomplete, "names", r.IncompleteNames)
	}
	if r.Missing != nil {
		log.Warn("names of filters may be missing; commands with unknown names fail until the loss is acknowledged (umbel node acknowledge)", event.NamesMissing,
			"since", r.Missing.Time(), "batches", r.Missing.Batches)
	}
}

// durabilities are the values of the setting.
var durabilities = map[string]store.Durability{"always": store.Always, "everysec": store.EverySec, "none": store.None}

// onDisk is the open contents of a data directory.
type onDisk struct {
	log       *wal.Log
	snapshots *snapfile.Dir
	lost      string // what is known to be lost, with accept-loss
}

// openData opens the log and the snapshots of a data directory. The log locks it. A directory that has
// a log but no snapshots has lost them: both are made at the same time.
func openData(ctx context.Context, c Config, log *slog.Logger, open openLog, limit *budget.Budget, readOnly bool) (on onDisk, err error) {
	if err := wal.Supported(logDir(c.Data)); err != nil {
		return on, fmt.Errorf("data directory %s: %w", c.Data, err)
	}
	_, err = os.Stat(logDir(c.Data))
	hasLog := err == nil
	if _, err := os.Stat(snapshotsDir(c.Data)); hasLog && errors.Is(err, fs.ErrNotExist) {
		what := snapshotsDir(c.Data) + " is missing; filters that the log does not create are gone"
		if !c.AcceptLoss {
			return on, fmt.Errorf("data directory %s: %w: %s: %s", c.Data, store.ErrLost, what, store.Remedy)
		}
		on.lost = what
	}
	if !readOnly { // before the log, which may be created
		if _, err := disk.Make(snapshotsDir(c.Data)); err != nil {
			return on, fmt.Errorf("data directory %s: %w", c.Data, err)
		}
	}
	on.log, err = open(logDir(c.Data), wal.Options{ReadOnly: readOnly, AcceptUnreadable: c.AcceptLoss,
		SegmentBytes: store.SegmentBytes(uint64(c.MaxDisk)), Disk: limit, Log: log.With("part", "log")})
	if errors.Is(err, disk.ErrUnreadable) {
		err = fmt.Errorf("%w: %s", err, store.UnreadableRemedy)
	}
	if err != nil {
		return on, fmt.Errorf("data directory %s: %w", c.Data, err)
	}
	on.snapshots, err = snapfile.OpenDir(snapshotsDir(c.Data), snapfile.Options{ReadOnly: readOnly, Disk: limit})
	if err != nil {
		return on, fmt.Errorf("data directory %s: %w", c.Data, errors.Join(err, on.log.Close()))
	}
	return on, nil
}

// logDir returns the directory of the log in a data directory, snapshotsDir that of the snapshots.
func logDir(data string) string       { return filepath.Join(data, "log") }
func snapshotsDir(data string) string { return filepath.Join(data, "snapshots") }

// makeEngine makes the engine of the node. readOnly is why clients may not change filters, nil if they may.
func (n *Node) makeEngine(readOnly error) {
	limit := memoryLimit(n.config.MaxMemory, 0)
	setGoMemoryLimit(limit)
	n.engine = newEngine(engine.Options{MaxMemory: limit, ReadOnly: readOnly, Overfull: overfullLogger(n.log), Fault: faultLogger(n.log)})
	n.growth = newGrowth(n.engine)
	n.budget = budget.New(clientMemory(n.config.MaxClientMemory, limit))
	restoring, restored := context.WithCancel(n.working)
	defer restored()
	n.tasks.Go(func() { n.keepTuned(restoring) })
}

// newEngine returns an empty engine with all kinds and the system's clock.
func newEngine(o engine.Options) *engine.Engine {
	// Includes the kind of CF.* even if CF.* is not served, for filters that exist already.
	o.Kinds = append(slices.Clone(filter.All), cuckoo.Kind)
	o.Now = func() int64 { return time.Now().UnixMilli() }
	return engine.New(o)
}

// overfullLogger returns a function that logs that a filter has become overfull.
func overfullLogger(log *slog.Logger) func(*engine.Filter, umbel.Stats) {
	limit := faultlog.Clients()
	return func(f *engine.Filter, s umbel.Stats) {
		keys := uint64(min(s.Keys, float64(s.Cells))) // infinite for a full filter
		limit.Logger(log).Warn("filter is overfull", event.FilterOverfull, "filter", command.Clip([]byte(f.Name())),
			"keys", keys, "rate", s.FPRate, "planned", f.Planned().FPRate)
	}
}

// faultLogger returns a function that logs a panic of code that reads, makes or opens a filter.
func faultLogger(log *slog.Logger) func(engine.Fault) {
	limit := faultlog.Clients()
	return func(f engine.Fault) {
		to := limit.Logger(log).With("kind", f.Kind, "panic", fmt.Sprint(f.Panic), "stack", string(f.Stack))
		if f.Filter == nil {
			to.Error("filter cannot be made or opened because of a fault; the node continues", event.FilterFault)
			return
		}
		to.Error("filter cannot be read because of a fault; the node continues", event.FilterFault, "filter", command.Clip([]byte(f.Filter.Name())))
	}
}

// RESP, HTTP, Unix and Metrics return the addresses that are served, nil if off.
func (n *Node) RESP() net.Addr    { return address(n.listeners.resp) }
func (n *Node) Unix() net.Addr    { return address(n.listeners.unix) }
func (n *Node) HTTP() net.Addr    { return address(n.listeners.http) }
func (n *Node) Metrics() net.Addr { return address(n.listeners.metrics) }

// Ready returns an error if the node does not answer queries, or will end, or if it is a replica and a
// version is out of date.
func (n *Node) Ready() error {
	if n.draining.Load() {
		return errors.New("shutting down")
	}
	switch {
	case n.following != nil:
		return n.following.Exact()
	case n.member != nil:
		return cmp.Or(n.member.Stranded(), n.member.Fresh())
	}
	return nil
}

// Writable returns an error if the node accepts no changes.
func (n *Node) Writable() error {
	if n.following != nil {
		return engine.ErrReplica
	}
	if err := n.Ready(); err != nil {
		return err
	}
	return n.store.Writable()
}

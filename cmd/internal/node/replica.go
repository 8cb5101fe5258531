package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/pflag"

	"github.com/umbel-filters/umbel/cmd/internal/durable/store"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/publish/replica"
	"github.com/umbel-filters/umbel/cmd/internal/redis/builtin"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/wire"
)

// keeper keeps the filters of a node: the store of a data directory, or the publications that a replica
// follows. Its methods are those of store.Store.
type keeper interface {
	Wait(ctx context.Context, pos engine.Position) error
	Kept(pos engine.Position) bool
	Room(ctx context.Context) error
	HasRoom() bool
	Writable() error
	Status() store.Status
	Snapshot(ctx context.Context) error
	Sync(ctx context.Context) error
	Backup(ctx context.Context, w io.Writer) error
	Spare() uint64
	SpareForOthers() uint64
	LimitChanged()
	Close(ctx context.Context) error
}

// errNoData is the error for what only a node with a data directory does.
var errNoData = errors.New("a replica has no data directory; its caches are written with each version")

// following is the keeper of a replica. Clients change nothing, so there is nothing to wait for.
type following struct{ *replica.Set }

func (following) Wait(context.Context, engine.Position) error { return nil }
func (following) Kept(engine.Position) bool                   { return true }
func (following) Room(context.Context) error                  { return nil }
func (following) HasRoom() bool                               { return true }
func (following) Writable() error                             { return engine.ErrReplica }
func (following) Status() store.Status                        { return store.Status{} }
func (following) Snapshot(context.Context) error              { return errNoData }
func (following) Sync(context.Context) error                  { return nil }
func (following) Backup(context.Context, io.Writer) error     { return errNoData }
func (following) Spare() uint64                               { return 0 }
func (following) SpareForOthers() uint64                      { return 0 }
func (following) LimitChanged()                               {}
func (f following) Close(context.Context) error               { return f.Set.Close() }

// ReplicaFlags adds a flag for each setting of a replica, and one for the file of settings, to fs.
// LoadReplicaConfig reads them.
func ReplicaFlags(fs *pflag.FlagSet) {
	addFlags(fs, Config{Replica: true})
}

// replicaFlags are the settings of replicas.
func (c *Config) replicaFlags(fs *pflag.FlagSet) {
	fs.Var(&c.Subscriptions, "subscriptions", "publications to follow, a `LIST` of filter, source, public-key, zone, cost, "+
		"sparse, fpr, start-bytes, bytes-per-second, bytes; see docs/share.md")
	fs.StringVar(&c.Cache, "cache", "umbel-versions", "`DIRECTORY` that keeps the versions, so that a restart fetches only what has changed")
	choiceVar(fs, &c.Stale, "stale", "", "what queries return while a version is out of date: error = an error; maybe = "+
		"every key may be present; last = the answer of the last version", "error", "maybe", "last")
	quantity.DurationVar(fs, &c.Every, "every", 0, "look for changes once per `DURATION`, if the source does not report them")
}

// staleChoices are the values of the setting.
var staleChoices = map[string]share.Stale{"error": share.StaleError, "maybe": share.StaleMaybe, "last": share.StaleLast}

// validateReplica is Validate for the settings of replicaFlags.
func (c Config) validateReplica() error {
	switch {
	case len(c.Following) == 0:
		return fmt.Errorf("there is no publication to follow; set subscriptions")
	case c.Cache == "":
		return fmt.Errorf("cache is empty, want a directory")
	case c.Stale == "":
		return fmt.Errorf("set stale (--stale) to what queries return while a version is out of date: error, maybe or last")
	case c.Every < 0 || c.Every > 0 && c.Every < 100*time.Millisecond:
		return fmt.Errorf("every is %v, want at least 100ms", c.Every)
	}
	return nil
}

// follow begins to follow publications. Those that have a version in the cache answer at once.
func (n *Node) follow(ctx context.Context) error {
	c := n.config
	n.makeEngine(engine.ErrReplica)
	l := n.startLoading()
	defer l.end()
	set, err := replica.Open(ctx, replica.Options{
		Engine: n.engine, Publications: c.Following, Cache: c.Cache, Stale: staleChoices[c.Stale], Period: c.Every,
		Limits: wire.Limits{Bytes: n.limit()}, Log: n.log.With("part", "subscribe"),
	})
	if err != nil {
		return err
	}
	n.store, n.following = following{set}, set
	n.tasks.Go(func() { set.Run(n.working) })
	return nil
}

// subscriptionsSection is the section of INFO with a line for each publication that a replica follows.
func (n *Node) subscriptionsSection() builtin.Section {
	s := builtin.Section{Name: "Subscriptions"}
	for i, p := range n.following.List() {
		s.Fields = append(s.Fields, [2]string{fmt.Sprint("subscription", i),
			fmt.Sprintf("filter=%q,state=%s,version=%d,age=%.0f,resyncs=%d,failures=%d", p.Filter, p.State, p.Version, p.AgeSeconds, p.Resyncs, p.Failures)})
	}
	return s
}

// ReadSubscriptions returns the setting subscriptions of a file of settings. Other settings are ignored.
func ReadSubscriptions(path string) (replica.List, error) {
	file, err := parseFile(path)
	if err != nil {
		return nil, fmt.Errorf("settings: file %s: %w", path, err)
	}
	value := file["subscriptions"]
	if value == nil {
		return nil, fmt.Errorf("settings: file %s has no subscriptions", path)
	}
	var list replica.List
	text, err := textOf(&list, value)
	if err == nil {
		err = list.Set(text)
	}
	if err != nil {
		return nil, fmt.Errorf("settings: file %s: subscriptions: %w", path, err)
	}
	return list, nil
}

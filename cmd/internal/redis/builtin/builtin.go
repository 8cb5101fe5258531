// Package builtin implements the commands that Redis has built in and that concern names and the server: DEL, SCAN, EXPIRE, TYPE,
// INFO, CONFIG and others. Replies and errors are those of Redis 7.
package builtin

import (
	"slices"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/redis/command"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
)

// Node is the process that the commands run in.
type Node interface {
	Save(background bool) error // SAVE, BGSAVE, BGREWRITEAOF
	LastSave() time.Time        // LASTSAVE
	Sync() error                // WAITAOF: waits until all changes are durable
	Shutdown()                  // SHUTDOWN: begins it and returns
	Info() []Section            // the process' sections of INFO
	Replication() Section       // the one of these with that name, from which ROLE takes its reply
	Config() Config             // CONFIG GET, SET
}

// Section is a section of INFO.
type Section struct {
	Name   string // "Server"
	Fields [][2]string
}

// Config is access to the settings by name, except those of a [Monitor].
type Config interface {
	Get(pattern string) [][2]string // pattern as in package glob
	Set(name, value string) error   // for names that Get returns
}

// Dumper makes and reads payloads of DUMP and RESTORE for the kinds it supports.
type Dumper interface {
	// Type returns the reply of TYPE, for a filter of any kind.
	Type(f *engine.Filter) string
	// Dump returns the payload. It returns an error wrapping errors.ErrUnsupported for other kinds,
	// for which this package uses containers.
	Dump(f *engine.Filter) ([]byte, error)
	// Restore makes a filter of at most most bytes from a payload; expires is as in engine.PutOptions. It returns an
	// error wrapping engine.ErrExists if the name is taken and replace is false. The text of other
	// errors is the reply, after ERR.
	Restore(name string, payload []byte, most uint64, replace bool, expires int64) (*engine.Filter, engine.Position, error)
}

// Commands returns the table of the package. m may be nil.
func Commands(e *engine.Engine, n Node, d Dumper, m *Monitor) resp.Table {
	if m == nil {
		m = NewMonitor()
	}
	k := &builtin{engine: e, node: n, dumper: d, monitor: m}
	t := command.Table(e, slices.Concat(k.names(), k.walks(), k.expiry(), k.dumps(), k.looks(),
		k.server(), k.settings(), k.watches(), k.cluster(), k.refusals())...)
	for _, cmd := range t {
		cmd.Group = "server"
		if slices.Contains(cmd.Categories, "@keyspace") {
			cmd.Group = "generic"
		}
	}
	return t
}

// builtin is the state of the commands.
type builtin struct {
	engine  *engine.Engine
	node    Node
	dumper  Dumper
	monitor *Monitor
}

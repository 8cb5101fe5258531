// Package keyspace provides the commands of Redis that concern names and the server, not filters'
// keys: DEL, SCAN, EXPIRE, TYPE, INFO, CONFIG and their like, as a filter server needs them. Replies
// and errors are those of Redis 7.
package keyspace

import (
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/resp"
)

// Node is what the commands need of the process they run in.
type Node interface {
	Save(background bool) error // SAVE, BGSAVE, BGREWRITEAOF
	LastSave() time.Time        // LASTSAVE
	Sync() error                // WAITAOF: all that was changed before is on the disk
	Shutdown()                  // SHUTDOWN: begins it, and returns
	Info() []Section            // what INFO shows beyond clients, keyspace, commandstats and bf
	Config() Config             // CONFIG GET, SET
}

// Section is one of INFO's.
type Section struct {
	Name   string // "Server"
	Fields [][2]string
}

// Config is the settings by name. Those of a [Monitor] are not among them.
type Config interface {
	Get(pattern string) [][2]string // pattern as package glob has it
	Set(name, value string) error   // for names that Get finds
}

// Dumper makes and takes payloads of DUMP and RESTORE for the kinds it knows.
type Dumper interface {
	// Type is what TYPE answers, for a filter of any kind.
	Type(f *engine.Filter) string
	// Dump returns the payload. The error wraps errors.ErrUnsupported for kinds that it
	// doesn't know: these get a payload of their own here.
	Dump(f *engine.Filter) ([]byte, error)
	// Restore makes a filter of a payload; expires is as for engine.Filter.Expire. The
	// error wraps engine.ErrExists if there is one and it isn't to be replaced; otherwise
	// its text is the reply, behind ERR.
	Restore(name string, payload []byte, replace bool, expires int64) (engine.Position, error)
}

// Commands returns the table of the package. m may be nil: nothing was observed then.
func Commands(e *engine.Engine, n Node, d Dumper, m *Monitor) resp.Table {
	if m == nil {
		m = NewMonitor()
	}
	k := &keyspace{engine: e, node: n, dumper: d, monitor: m}
	t := resp.Table{}
	for _, list := range [][]row{k.names(), k.walks(), k.expiry(), k.dumps(), k.looks(), k.server(), k.settings(), k.watches(), k.refusals()} {
		for _, r := range list {
			t[r.name] = r.command()
		}
	}
	return t
}

// keyspace is what the commands work on.
type keyspace struct {
	engine  *engine.Engine
	node    Node
	dumper  Dumper
	monitor *Monitor
}

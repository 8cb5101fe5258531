// Package keyspace provides the commands of Redis that concern names and the server, not filters'
// keys: DEL, SCAN, EXPIRE, TYPE, INFO, CONFIG and their like, as a filter server needs them.
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
	Info() []Section            // what INFO shows beyond clients, keyspace and commandstats
	Config() Config             // CONFIG GET, SET
}

// Section is one of INFO's.
type Section struct {
	Name   string // "Server"
	Fields [][2]string
}

// Config is the settings by name.
type Config interface {
	Get(pattern string) [][2]string
	Set(name, value string) error
}

// Dumper makes and takes payloads of DUMP and RESTORE for the kinds it knows.
type Dumper interface {
	Type(f *engine.Filter) string // what TYPE answers
	Dump(f *engine.Filter) ([]byte, error)
	Restore(name string, payload []byte, replace bool, expires int64) (engine.Position, error)
}

// Commands returns the table of the package. m may be nil: nothing was observed then.
func Commands(e *engine.Engine, n Node, d Dumper, m *Monitor) resp.Table { panic("todo") }

// Monitor keeps what commands took: for SLOWLOG, LATENCY and INFO commandstats. Its
// methods may be called concurrently.
type Monitor struct{ _ int }

// NewMonitor returns a monitor that keeps what takes 10 ms and longer.
func NewMonitor() *Monitor { panic("todo") }

// Observe is for resp.Options.
func (m *Monitor) Observe(c *resp.Conn, cmd *resp.Command, n int, took time.Duration) { panic("todo") }

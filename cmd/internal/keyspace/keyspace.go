// Package keyspace provides the commands of Redis that concern names and the server, not filters'
// keys: DEL, SCAN, EXPIRE, TYPE, INFO, CONFIG and their like, as a filter server needs them.
package keyspace

import (
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/resp"
)

// Node is what the commands need of the process they run in.
type Node interface {
	Save(background bool) error     // SAVE, BGSAVE, BGREWRITEAOF
	Shutdown()                      // SHUTDOWN
	Info() []Section                // what INFO shows beyond clients, keyspace and commandstats
	Config() Config                 // CONFIG GET, SET
	Sync(pos engine.Position) error // WAITAOF
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

// Commands returns the table of the package.
func Commands(e *engine.Engine, n Node, d Dumper) resp.Table { panic("todo") }

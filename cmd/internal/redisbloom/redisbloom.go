// Package redisbloom provides RedisBloom 8's commands, bit for bit: BF.* on filters of kind
// redisbloom, and CF.* as an emulation on counting filters, behind an option.
package redisbloom

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/resp"
)

// Options are what CONFIG's bf-* and cf-* settings hold, and more.
type Options struct {
	ErrorRate float64      // bf-error-rate, 0.01
	Capacity  uint64       // bf-initial-size, 100
	Expansion uint32       // bf-expansion-factor, 2
	Hasher    umbel.Hasher // of new filters; RedisBloom's own unless keys are chosen by strangers
	Atomic    bool         // MADD and INSERT on a full filter add nothing, as valkey-bloom does
	Cuckoo    bool         // serve CF.* from counting filters
}

// Module is the commands with their options. Its methods may be called concurrently.
type Module struct{ _ int }

func New(e *engine.Engine, o Options) *Module { panic("todo") }
func (m *Module) Commands() resp.Table        { panic("todo") }

// Config returns the settings bf-* and cf-*; SetConfig changes one, with RedisBloom's errors. known is false
// for names that aren't the module's.
func (m *Module) Config(pattern string) [][2]string                    { panic("todo") }
func (m *Module) SetConfig(name, value string) (known bool, err error) { panic("todo") }

// Type, Dump, Restore: see keyspace.Dumper. DUMP's payload is RedisBloom's own.
func (m *Module) Type(f *engine.Filter) string          { panic("todo") }
func (m *Module) Dump(f *engine.Filter) ([]byte, error) { panic("todo") }
func (m *Module) Restore(name string, payload []byte, replace bool, expires int64) (engine.Position, error) {
	panic("todo")
}

// Package redisbloom provides RedisBloom 8's commands, bit for bit: BF.* on filters of kind
// redisbloom, and CF.* as an emulation on counting filters, behind an option.
//
// Where it differs from RedisBloom it is to keep a promise of the node's:
//
//   - BF.ADD, MADD, INSERT, EXISTS, MEXISTS and CARD work on filters of every kind. What
//     only RedisBloom's layout has (INFO, DEBUG, SCANDUMP, LOADCHUNK) is WRONGTYPE for others.
//   - A filter that BF.LOADCHUNK loads says of every key that it may be there until all of
//     its bytes have come, and takes no additions: half a filter would deny keys that it was
//     loaded with, and chunks to come would take the place of what is added. After a restart
//     in the middle all chunks are to be sent again, in any order; the header is there.
//   - Filters of another hasher than RedisBloom's (keys chosen by strangers) aren't dumped:
//     no RedisBloom would find their keys.
//   - BF.INSERT takes valkey-bloom's SEED, TIGHTENING and VALIDATESCALETO too: see insertOptions.
package redisbloom

import (
	"sync"
	"sync/atomic"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/resp"
)

// Options are what CONFIG's bf-* and cf-* settings hold, and more. Zero numbers stand for
// RedisBloom's own.
type Options struct {
	ErrorRate float64 // bf-error-rate, 0.01
	Capacity  uint64  // bf-initial-size, 100
	// Expansion is bf-expansion-factor, 2. New filters don't scale if it is set to 0 with
	// CONFIG.
	Expansion uint32
	Hasher    umbel.Hasher // of new filters; RedisBloom's own unless keys are chosen by strangers
	Atomic    bool         // MADD and INSERT on a full filter add nothing, as valkey-bloom does
	Cuckoo    bool         // serve CF.* from counting filters
}

// Module is the commands with their options. Its methods may be called concurrently.
type Module struct {
	engine   *engine.Engine
	options  Options
	settings atomic.Pointer[settings]
	setting  sync.Mutex // held while settings are replaced
	loads    loads
	atomic   sync.Mutex // held while a filter that is full may refuse a whole command: Options.Atomic
}

// New returns the commands over the filters of e, which has [CuckooVariant] among its kinds if o.Cuckoo is set.
func New(e *engine.Engine, o Options) *Module {
	m := &Module{engine: e, options: o}
	m.settings.Store(settingsOf(o))
	return m
}

// Commands returns the table of BF.*, and of CF.* if they are served.
func (m *Module) Commands() resp.Table {
	t := resp.Table{}
	rows := m.bloomCommands()
	if m.options.Cuckoo {
		rows = append(rows, m.cuckooCommands()...)
	}
	for _, c := range rows {
		t[c.Name] = c
	}
	return t
}

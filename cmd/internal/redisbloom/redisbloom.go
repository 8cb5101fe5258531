// Package redisbloom implements the commands of RedisBloom 8: BF.* bit for bit on filters of kind
// redisbloom, and CF.*, if enabled, as an emulation on counting filters.
//
// It differs from RedisBloom in these points:
//
//   - BF.ADD, MADD, INSERT, EXISTS, MEXISTS and CARD work on filters of every kind. INFO, DEBUG,
//     SCANDUMP and LOADCHUNK need RedisBloom's layout and are WRONGTYPE for other kinds.
//   - A filter that BF.LOADCHUNK is loading is incomplete until all of its bytes have arrived: every
//     query returns true, and additions are refused. Otherwise keys would be missing, and later
//     chunks would overwrite additions. After a restart all chunks must be sent again, in any order;
//     the header need not.
//   - Filters with another hasher than RedisBloom's (for untrusted keys) can't be dumped, because
//     RedisBloom would not find their keys.
//   - BF.INSERT also supports SEED, TIGHTENING and VALIDATESCALETO of valkey-bloom: see insertOptions.
package redisbloom

import (
	"sync"
	"sync/atomic"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/command"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/resp"
)

// Options are the settings bf-* and cf-*, and others. Zero numbers mean RedisBloom's defaults.
type Options struct {
	ErrorRate float64 // bf-error-rate, 0.01
	Capacity  uint64  // bf-initial-size, 100
	// Expansion is bf-expansion-factor, 2. New filters don't scale if it is set to 0 by
	// CONFIG.
	Expansion uint32
	Hasher    umbel.Hasher // of new filters; RedisBloom's unless keys are untrusted
	Atomic    bool         // MADD and INSERT add all items or none, like valkey-bloom
	Cuckoo    bool         // serve CF.* with counting filters
}

// Module is the commands with their options. It is safe for concurrent use.
type Module struct {
	engine   *engine.Engine
	options  Options
	settings atomic.Pointer[settings]
	setting  sync.Mutex // held while settings are replaced
	loads    loads
	// atomic is held by additions if Options.Atomic is set; filters share one by their IDs.
	atomic [256]sync.Mutex
}

// New returns the commands for the filters of e. If o.Cuckoo is set, the kinds of e must include
// [CuckooKind].
func New(e *engine.Engine, o Options) *Module {
	m := &Module{engine: e, options: o}
	m.settings.Store(settingsOf(o))
	return m
}

// Commands returns the table of BF.*, and of CF.* if enabled.
func (m *Module) Commands() resp.Table {
	rows := m.bloomCommands()
	if m.options.Cuckoo {
		rows = append(rows, m.cuckooCommands()...)
	}
	t := command.Table(rows...)
	markLong(t)
	return t
}

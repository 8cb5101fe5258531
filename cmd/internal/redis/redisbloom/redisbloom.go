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
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/node/access"
	"github.com/umbel-filters/umbel/cmd/internal/redis/command"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
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
	Fixed     bool         // the names of the filters don't change: queries of others get an error, instead of the answer of an empty filter
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
// [cuckoo.Kind].
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
	return command.Table(m.engine, rows...)
}

func (m *Module) bloomCommands() []command.Row {
	return []command.Row{
		{Name: "bf.reserve", Arity: -4, Keys: command.OneKey, Makes: 1, Right: access.Add,
			Flags: "write denyoom module", Categories: "write fast bloom",
			Summary: "Makes an empty filter with a capacity and an error rate.", Long: command.Bounded, Run: m.reserve},
		{Name: "bf.add", Arity: 3, Keys: command.OneKey, Makes: 1, Right: access.Add,
			Flags: "write denyoom module", Categories: "write bloom",
			Summary: "Adds an item; makes a missing filter.", RunAll: m.add},
		{Name: "bf.madd", Arity: -3, Keys: command.OneKey, Makes: 1, Right: access.Add,
			Flags: "write denyoom module", Categories: "write bloom",
			Summary: "Adds items; makes a missing filter.", RunAll: m.addMany},
		{Name: "bf.insert", Arity: -4, Keys: command.OneKey, Makes: 1, Right: access.Add, Short: true,
			Flags: "write denyoom module", Categories: "write bloom",
			Summary: "Adds items; makes a missing filter with options.", Run: m.insert},
		{Name: "bf.exists", Arity: 3, Keys: command.OneKey, Right: access.Read,
			Flags: "readonly module fast", Categories: "read bloom",
			Summary: "Queries whether an item may have been added.", RunAll: m.exists},
		{Name: "bf.mexists", Arity: -3, Keys: command.OneKey, Right: access.Read,
			Flags: "readonly module fast", Categories: "read bloom",
			Summary: "Queries which items may have been added.", RunAll: m.existMany},
		{Name: "bf.card", Since: "2.4.4", Arity: 2, Keys: command.OneKey, Right: access.Read,
			Flags: "readonly module fast", Categories: "read fast bloom",
			Summary: "Returns the number of added items.", Run: m.card},
		{Name: "bf.info", Arity: -2, Keys: command.OneKey, Right: access.Read,
			Flags: "readonly module fast", Categories: "read fast bloom",
			Summary: "Returns size, capacity and growth of a filter.", Run: m.info},
		{Name: "bf.debug", Arity: 2, Keys: command.OneKey, Right: access.Read, Flags: "readonly module", Categories: "read bloom",
			Summary: "Describes the layers of a filter.", Run: m.debug},
		{Name: "bf.scandump", Arity: 3, Keys: command.OneKey, Right: access.Read, Flags: "readonly module", Categories: "read bloom",
			Summary: "Dumps a filter in chunks for BF.LOADCHUNK.", Run: m.scanDump},
		{Name: "bf.loadchunk", Arity: 4, Keys: command.OneKey, Makes: 1, Right: access.Add,
			Flags: "write denyoom module", Categories: "write bloom",
			Summary: "Loads a chunk of BF.SCANDUMP.", Long: command.Bounded, Run: m.loadChunk},
	}
}

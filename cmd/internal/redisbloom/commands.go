package redisbloom

import (
	"github.com/umbel-filters/umbel/cmd/internal/access"
	"github.com/umbel-filters/umbel/cmd/internal/command"
	"github.com/umbel-filters/umbel/cmd/internal/resp"
)

// markLong marks the commands that allocate a filter or validate all of it. What they work through is
// limited by the memory limit and the length of a transaction.
func markLong(t resp.Table) {
	for _, name := range []string{"bf.reserve", "bf.loadchunk", "cf.reserve", "cf.loadchunk", "cf.compact"} {
		if cmd := t[name]; cmd != nil {
			cmd.Long = func([][]byte) uint64 { return 0 }
		}
	}
}

func (m *Module) bloomCommands() []command.Row {
	return []command.Row{
		{Name: "bf.reserve", Arity: -4, Keys: command.OneKey, Right: access.Add, Flags: "write denyoom module", Categories: "write fast bloom", Summary: "Makes an empty filter with a capacity and an error rate.", Run: m.reserve},
		{Name: "bf.add", Arity: 3, Keys: command.OneKey, Right: access.Add, Flags: "write denyoom module", Categories: "write bloom", Summary: "Adds an item; makes a missing filter.", RunAll: m.add},
		{Name: "bf.madd", Arity: -3, Keys: command.OneKey, Right: access.Add, Flags: "write denyoom module", Categories: "write bloom", Summary: "Adds items; makes a missing filter.", RunAll: m.addMany},
		{Name: "bf.insert", Arity: -4, Keys: command.OneKey, Right: access.Add, Flags: "write denyoom module", Categories: "write bloom", Summary: "Adds items; makes a missing filter with options.", Run: m.insert},
		{Name: "bf.exists", Arity: 3, Keys: command.OneKey, Right: access.Read, Flags: "readonly module fast", Categories: "read bloom", Summary: "Queries whether an item may have been added.", RunAll: m.exists},
		{Name: "bf.mexists", Arity: -3, Keys: command.OneKey, Right: access.Read, Flags: "readonly module fast", Categories: "read bloom", Summary: "Queries which items may have been added.", RunAll: m.existMany},
		{Name: "bf.card", Arity: 2, Keys: command.OneKey, Right: access.Read, Flags: "readonly module fast", Categories: "read fast bloom", Summary: "Returns the number of added items.", Run: m.card},
		{Name: "bf.info", Arity: -2, Keys: command.OneKey, Right: access.Read, Flags: "readonly module fast", Categories: "read fast bloom", Summary: "Returns size, capacity and growth of a filter.", Run: m.info},
		{Name: "bf.debug", Arity: 2, Keys: command.OneKey, Right: access.Read, Flags: "readonly module", Categories: "read bloom", Summary: "Describes the layers of a filter.", Run: m.debug},
		{Name: "bf.scandump", Arity: 3, Keys: command.OneKey, Right: access.Read, Flags: "readonly module", Categories: "read bloom", Summary: "Dumps a filter in chunks for BF.LOADCHUNK.", Run: m.scanDump},
		{Name: "bf.loadchunk", Arity: 4, Keys: command.OneKey, Right: access.Add, Flags: "write denyoom module", Categories: "write bloom", Summary: "Loads a chunk of BF.SCANDUMP.", Run: m.loadChunk},
	}
}

package redisbloom

import (
	"errors"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/command"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/resp"
)

// CF.* is an emulation: replies and errors are RedisBloom's, but items are stored in counters.
// Differences:
//
//   - Counters saturate at 15. An item that was added more often cannot be removed completely, and
//     its CF.COUNT is far too high.
//   - A filter holds as many items as it has slots; no bucket is full earlier.
//   - In a filter that has grown far beyond its capacity it may be unknown which part contains an
//     item. CF.DEL then returns 0 and keeps the item, because removing it from the wrong part would
//     lose other items. (CF.DEL of an item that was never added loses other items, as in RedisBloom.)
//   - The chunks of CF.SCANDUMP can only be loaded by umbel.
func (m *Module) cuckooCommands() []*resp.Command {
	return commands([]row{
		{"cf.reserve", -3, "add", "write denyoom", "write fast", "Makes an empty filter with a capacity.", m.cuckooReserve, nil},
		{"cf.add", 3, "add", "write denyoom", "write", "Adds an item; makes a missing filter.", m.cuckooAdd, nil},
		{"cf.addnx", 3, "add", "write denyoom", "write", "Adds an item unless it may be present.", m.cuckooAddNX, nil},
		{"cf.insert", -4, "add", "write denyoom", "write", "Adds items; makes a missing filter with options.", m.cuckooInsert, nil},
		{"cf.insertnx", -4, "add", "write denyoom", "write", "Adds the items that are absent.", m.cuckooInsertNX, nil},
		{"cf.exists", 3, "read", "readonly fast", "read fast", "Queries whether an item may be present.", m.cuckooExists, nil},
		{"cf.mexists", -3, "read", "readonly fast", "read", "Queries which items may be present.", m.cuckooExistMany, nil},
		{"cf.count", 3, "read", "readonly fast", "read", "Returns an upper bound of how often an item is present.", m.cuckooCount, nil},
		{"cf.del", 3, "remove", "write fast", "write", "Removes one addition of an item.", m.cuckooDelete, nil},
		{"cf.compact", 2, "add", "write", "write", "No effect.", m.cuckooCompact, nil},
		{"cf.info", 2, "read", "readonly fast", "read fast", "Returns size and growth of a filter.", m.cuckooInfo, nil},
		{"cf.debug", 2, "read", "readonly", "read", "Describes a filter in one line.", m.cuckooDebug, nil},
		{"cf.scandump", 3, "read", "readonly", "read", "Dumps a filter in chunks for CF.LOADCHUNK.", m.cuckooScanDump, nil},
		{"cf.loadchunk", 4, "add", "write denyoom", "write", "Loads a chunk of CF.SCANDUMP.", m.cuckooLoadChunk, nil},
	}, "cuckoo")
}

const (
	cuckooFull       = "Filter is full"
	cuckooExpansions = "Maximum expansions reached"
	cuckooMissing    = "Not found"
	cuckooNoCompact  = "Cuckoo filter was not found"
)

// lookCuckoo is look for filters of CF.*.
func lookCuckoo(f *engine.Filter, missing string, what func(*cuckoo)) (problem string) {
	if f == nil {
		return missing
	}
	problem = wrongType
	err := f.View(func(f umbel.Filter) {
		if own, ok := f.(*cuckoo); ok {
			problem = ""
			what(own)
		}
	})
	switch {
	case errors.Is(err, engine.ErrNotFound):
		return missing
	case err != nil:
		return command.Text(err)
	}
	return problem
}

// cuckooOf returns the filter with this name, or nil if CF.* has not made one.
func (m *Module) cuckooOf(name []byte) *engine.Filter {
	if f := m.engine.Get(name); f != nil && f.Kind() == CuckooName {
		return f
	}
	return nil
}

// cuckooReserve implements CF.RESERVE.
func (m *Module) cuckooReserve(c *resp.Conn, args [][]byte) {
	o, problem := cuckooReserveOptions(args[2:], m.settings.Load().cuckoo())
	if f := m.engine.Get(args[1]); problem == "" && f != nil {
		if problem = itemExists; f.Kind() != CuckooName {
			problem = wrongType
		}
	}
	if problem != "" {
		c.Error(problem)
		return
	}
	_, pos, err := m.cuckooCreate(args[1], o)
	if err != nil {
		problem = createProblem(err)
	}
	replyOK(c, pos, problem)
}

func (m *Module) cuckooCreate(name []byte, o cuckooOptions) (*engine.Filter, engine.Position, error) {
	shape, err := o.shape(m.options.Hasher)
	if err != nil {
		return nil, 0, err
	}
	hold := m.engine.NewReservation()
	defer hold.Release()
	if err := hold.Take(shape.Forecast(1).Bytes); err != nil {
		return nil, 0, err
	}
	f, err := o.make(m.options.Hasher)
	if err != nil {
		return nil, 0, err
	}
	hold.Release() // from here on the engine accounts for it
	return m.engine.Put(string(name), f, engine.PutOptions{Empty: true})
}

// cuckooInfo implements CF.INFO. The size is that of the emulated filters, with one byte per
// slot.
func (m *Module) cuckooInfo(c *resp.Conn, args [][]byte) {
	var own cuckoo
	if problem := lookCuckoo(m.engine.Get(args[1]), notFound, func(f *cuckoo) { own = *f }); problem != "" {
		c.Error(problem)
		return
	}
	slots := own.slots(own.filters)
	c.Map(8)
	for _, field := range []struct {
		label string
		value uint64
	}{
		{"Size", 40 + 16*own.filters + slots},
		{"Number of buckets", slots / own.bucket},
		{"Number of filters", own.filters},
		{"Number of items inserted", own.items},
		{"Number of items deleted", own.deleted},
		{"Bucket size", own.bucket},
		{"Expansion rate", own.expansion},
		{"Max iterations", own.tries},
	} {
		c.Simple(field.label)
		c.Int(clipped(field.value))
	}
}

// cuckooDebug implements CF.DEBUG.
func (m *Module) cuckooDebug(c *resp.Conn, args [][]byte) {
	var line string
	if problem := lookCuckoo(m.engine.Get(args[1]), notFound, func(f *cuckoo) { line = f.describe() }); problem != "" {
		c.Error(problem)
		return
	}
	c.BulkString(line)
}

// cuckooCompact implements CF.COMPACT.
func (m *Module) cuckooCompact(c *resp.Conn, args [][]byte) {
	if m.cuckooOf(args[1]) == nil {
		c.Error(cuckooNoCompact)
		return
	}
	c.Simple("OK")
}

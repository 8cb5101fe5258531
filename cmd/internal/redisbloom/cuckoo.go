package redisbloom

import (
	"errors"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/refusal"
	"github.com/umbel-filters/umbel/cmd/internal/resp"
)

// CF.* is an emulation: replies and errors are RedisBloom's, but the items are in counters.
// What differs:
//
//   - A counter saturates at 15: an item added more often can't be deleted altogether, and
//     CF.COUNT, which may be too high anyway, is then very much so.
//   - As many items fit in as there are slots; a bucket is never full before.
//   - A filter that has grown far beyond its capacity may be unable to tell in which of its
//     parts an item is. CF.DEL then answers 0 and the item stays, since to delete it from the
//     wrong part would lose others. (RedisBloom's CF.DEL of what was never added loses
//     others; so does this one.)
//   - CF.SCANDUMP's bytes are for CF.LOADCHUNK of umbel only.
func (m *Module) cuckooCommands() []*resp.Command {
	return commands([]row{
		{"cf.reserve", -3, "add", "write denyoom", "write fast", "Makes an empty filter for so many items.", m.cuckooReserve, nil},
		{"cf.add", 3, "add", "write denyoom", "write", "Adds an item; makes the filter if there is none.", m.cuckooAdd, nil},
		{"cf.addnx", 3, "add", "write denyoom", "write", "Adds an item unless it may be there.", m.cuckooAddNX, nil},
		{"cf.insert", -4, "add", "write denyoom", "write", "Adds items; makes the filter as it says if there is none.", m.cuckooInsert, nil},
		{"cf.insertnx", -4, "add", "write denyoom", "write", "Adds those of the items that can't be there.", m.cuckooInsertNX, nil},
		{"cf.exists", 3, "read", "readonly fast", "read fast", "Tells whether an item may be there.", m.cuckooExists, nil},
		{"cf.mexists", -3, "read", "readonly fast", "read", "Tells which of the items may be there.", m.cuckooExistMany, nil},
		{"cf.count", 3, "read", "readonly fast", "read", "Tells how often an item may be there.", m.cuckooCount, nil},
		{"cf.del", 3, "remove", "write fast", "write", "Takes back one addition of an item.", m.cuckooDelete, nil},
		{"cf.compact", 2, "add", "write", "write", "Does nothing: there is nothing to be moved.", m.cuckooCompact, nil},
		{"cf.info", 2, "read", "readonly fast", "read fast", "Tells size and growth of a filter.", m.cuckooInfo, nil},
		{"cf.debug", 2, "read", "readonly", "read", "Describes a filter in one line.", m.cuckooDebug, nil},
		{"cf.scandump", 3, "read", "readonly", "read", "Gives a filter in pieces, for CF.LOADCHUNK.", m.cuckooScanDump, nil},
		{"cf.loadchunk", 4, "add", "write denyoom", "write", "Takes a piece of a filter that CF.SCANDUMP gave.", m.cuckooLoadChunk, nil},
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
		return refusal.Text(err)
	}
	return problem
}

// cuckooOf returns the filter of that name, nil if there is none that CF.* has made.
func (m *Module) cuckooOf(name []byte) *engine.Filter {
	if f := m.engine.Get(name); f != nil && f.Kind() == CuckooName {
		return f
	}
	return nil
}

// cuckooReserve answers CF.RESERVE.
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
	done(c, pos, problem)
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
	hold.Release() // it is the engine's
	return m.engine.Put(string(name), f, false, false)
}

// cuckooInfo answers CF.INFO. Its size is that of the cuckoo filters: a byte for a slot.
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

// cuckooDebug answers CF.DEBUG.
func (m *Module) cuckooDebug(c *resp.Conn, args [][]byte) {
	var line string
	if problem := lookCuckoo(m.engine.Get(args[1]), notFound, func(f *cuckoo) { line = f.describe() }); problem != "" {
		c.Error(problem)
		return
	}
	c.BulkString(line)
}

// cuckooCompact answers CF.COMPACT.
func (m *Module) cuckooCompact(c *resp.Conn, args [][]byte) {
	if m.cuckooOf(args[1]) == nil {
		c.Error(cuckooNoCompact)
		return
	}
	c.Simple("OK")
}

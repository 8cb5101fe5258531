package redisbloom

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/node/access"
	"github.com/umbel-filters/umbel/cmd/internal/redis/command"
	"github.com/umbel-filters/umbel/cmd/internal/redis/cuckoo"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
)

// CF.* is an emulation: replies and errors are RedisBloom's, but items are stored in counters.
// Differences:
//
//   - Counters saturate at 15. From 15 additions on an item cannot be removed: CF.DEL returns 0, and its CF.COUNT is the
//     number of all items.
//   - A filter holds as many items as it has slots; no bucket is full earlier.
//   - In a filter that has grown far beyond its capacity it may be unknown which part contains an
//     item. CF.DEL then returns 0 and keeps the item, because removing it from the wrong part would
//     lose other items. (CF.DEL of an item that was never added loses other items, as in RedisBloom.)
//   - The chunks of CF.SCANDUMP can only be loaded by umbel.
func (m *Module) cuckooCommands() []command.Row {
	return []command.Row{
		{Name: "cf.reserve", Arity: -3, Keys: command.OneKey, Makes: 1, Right: access.Add,
			Flags: "write denyoom module", Categories: "write fast cuckoo",
			Summary: "Makes an empty filter with a capacity.", Long: command.Bounded, Run: m.cuckooReserve},
		{Name: "cf.add", Arity: 3, Keys: command.OneKey, Makes: 1, Right: access.Add, Short: true,
			Flags: "write denyoom module", Categories: "write cuckoo",
			Summary: "Adds an item; makes a missing filter.", Run: m.cuckooAdd},
		{Name: "cf.addnx", Arity: 3, Keys: command.OneKey, Makes: 1, Right: access.Add, Short: true,
			Flags: "write denyoom module", Categories: "write cuckoo",
			Summary: "Adds an item unless it may be present.", Run: m.cuckooAddNX},
		{Name: "cf.insert", Arity: -4, Keys: command.OneKey, Makes: 1, Right: access.Add, Short: true,
			Flags: "write denyoom module", Categories: "write cuckoo",
			Summary: "Adds items; makes a missing filter with options.", Run: m.cuckooInsert},
		{Name: "cf.insertnx", Arity: -4, Keys: command.OneKey, Makes: 1, Right: access.Add, Short: true,
			Flags: "write denyoom module", Categories: "write cuckoo",
			Summary: "Adds the items that are absent.", Run: m.cuckooInsertNX},
		{Name: "cf.exists", Arity: 3, Keys: command.OneKey, Right: access.Read,
			Flags: "readonly module fast", Categories: "read fast cuckoo",
			Summary: "Queries whether an item may be present.", Run: m.cuckooExists},
		{Name: "cf.mexists", Arity: -3, Keys: command.OneKey, Right: access.Read,
			Flags: "readonly module fast", Categories: "read cuckoo",
			Summary: "Queries which items may be present.", Run: m.cuckooExistMany},
		{Name: "cf.count", Arity: 3, Keys: command.OneKey, Right: access.Read,
			Flags: "readonly module fast", Categories: "read cuckoo",
			Summary: "Returns an upper bound of how often an item is present.", Run: m.cuckooCount},
		{Name: "cf.del", Arity: 3, Keys: command.OneKey, Right: access.Remove, Flags: "write module fast", Categories: "write cuckoo",
			Summary: "Removes one addition of an item.", Run: m.cuckooDelete},
		{Name: "cf.compact", Arity: -1, Keys: command.OneKey, Right: access.Remove, Flags: "write module", Categories: "write cuckoo",
			Summary: "Sets the number of deleted items to 0.", Long: command.Named, Run: m.cuckooCompact},
		{Name: "cf.info", Arity: 2, Keys: command.OneKey, Right: access.Read,
			Flags: "readonly module fast", Categories: "read fast cuckoo",
			Summary: "Returns size and growth of a filter.", Run: m.cuckooInfo},
		{Name: "cf.debug", Arity: 2, Keys: command.OneKey, Right: access.Read, Flags: "readonly module", Categories: "read cuckoo",
			Summary: "Describes a filter in one line.", Run: m.cuckooDebug},
		{Name: "cf.scandump", Arity: 3, Keys: command.OneKey, Right: access.Read, Flags: "readonly module", Categories: "read cuckoo",
			Summary: "Dumps a filter in chunks for CF.LOADCHUNK.", Run: m.cuckooScanDump},
		{Name: "cf.loadchunk", Arity: 4, Keys: command.OneKey, Makes: 1, Right: access.Add,
			Flags: "write denyoom module", Categories: "write cuckoo",
			Summary: "Loads a chunk of CF.SCANDUMP.", Long: command.Bounded, Run: m.cuckooLoadChunk},
	}
}

const (
	cuckooFull       = "Filter is full"
	cuckooExpansions = "Maximum expansions reached"
	cuckooMissing    = "Not found"
	cuckooNoCompact  = "Cuckoo filter was not found"
)

// cuckooOf returns the filter with this name, or nil if CF.* has not made one.
func (m *Module) cuckooOf(name []byte) *engine.Filter {
	if f := m.engine.Get(name); f != nil && f.Kind() == cuckoo.Name {
		return f
	}
	return nil
}

// cuckooReserve implements CF.RESERVE.
func (m *Module) cuckooReserve(c *resp.Conn, args [][]byte) {
	o, problem := cuckooReserveOptions(args[2:], m.settings.Load().cuckoo())
	if f := m.engine.Get(args[1]); problem == "" && f != nil {
		if problem = itemExists; f.Kind() != cuckoo.Name {
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

func (m *Module) cuckooCreate(name []byte, o cuckoo.Options) (*engine.Filter, engine.Position, error) {
	hold := m.engine.NewReservation()
	defer hold.Release()
	f, err := m.newCuckoo(hold, name, o)
	if err != nil {
		return nil, 0, err
	}
	return m.engine.Put(string(name), f, engine.PutOptions{Empty: true, Hold: hold})
}

// newCuckoo returns an empty filter for this name, and reserves memory for it.
func (m *Module) newCuckoo(hold *engine.Reservation, name []byte, o cuckoo.Options) (f *cuckoo.Filter, err error) {
	defer m.engine.CatchFault(cuckoo.Name, &err)
	shape, err := o.Shape(m.options.Hasher)
	if err != nil {
		return nil, err
	}
	if err := hold.TakeFor(string(name), shape.Forecast(1).Bytes); err != nil {
		return nil, err
	}
	return o.Make(m.options.Hasher)
}

// cuckooInfo implements CF.INFO. The size is that of the emulated filters, with one byte per
// slot.
func (m *Module) cuckooInfo(c *resp.Conn, args [][]byte) {
	var own cuckoo.Numbers
	if problem := look(m.engine.Get(args[1]), notFound, func(f *cuckoo.Filter) { own = f.Numbers }); problem != "" {
		c.Error(problem)
		return
	}
	slots := own.Slots()
	c.Map(8)
	for _, field := range []struct {
		label string
		value uint64
	}{
		{"Size", 40 + 16*own.Filters + slots},
		{"Number of buckets", slots / own.Bucket},
		{"Number of filters", own.Filters},
		{"Number of items inserted", own.Items},
		{"Number of items deleted", own.Deleted},
		{"Bucket size", own.Bucket},
		{"Expansion rate", own.Expansion},
		{"Max iterations", own.Tries},
	} {
		c.Simple(field.label)
		c.Int(clipped(field.value))
	}
}

// cuckooDebug implements CF.DEBUG.
func (m *Module) cuckooDebug(c *resp.Conn, args [][]byte) {
	var line string
	if problem := look(m.engine.Get(args[1]), notFound, func(f *cuckoo.Filter) { line = f.Describe() }); problem != "" {
		c.Error(problem)
		return
	}
	c.BulkString(line)
}

// cuckooCompact implements CF.COMPACT. Counters need no compaction; the number of deleted items
// becomes 0, as in RedisBloom.
func (m *Module) cuckooCompact(c *resp.Conn, args [][]byte) {
	if len(args) != 2 {
		c.Error("ERR wrong number of arguments for 'cf.compact' command")
		return
	}
	f := m.cuckooOf(args[1])
	if f == nil {
		c.Error(cuckooNoCompact)
		return
	}
	deleted := uint64(0)
	if problem := look(f, cuckooNoCompact, func(own *cuckoo.Filter) { deleted = own.Deleted }); problem != "" || deleted == 0 {
		replyOK(c, 0, problem)
		return
	}
	pos, err := f.Update(func(g umbel.Filter) (umbel.Filter, error) {
		g.(*cuckoo.Filter).Deleted = 0
		return g, nil
	})
	problem := ""
	if err != nil {
		problem = command.Text(err)
	}
	replyOK(c, pos, problem)
}

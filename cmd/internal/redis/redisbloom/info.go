package redisbloom

import (
	"math"

	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/redis/command"
	"github.com/umbel-filters/umbel/cmd/internal/redis/cuckoo"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
)

const (
	infoArity   = "ERR wrong number of arguments for 'bf.info' command"
	unknownInfo = "Invalid information value"
)

// infoFields are the fields of BF.INFO in order: the option, the label, and the value, -1 for
// null.
var infoFields = [...]struct {
	word, label string
	value       func(redisbloom.Info) int64
}{
	{"CAPACITY", "Capacity", func(i redisbloom.Info) int64 { return clipped(i.Capacity) }},
	{"SIZE", "Size", func(i redisbloom.Info) int64 { return clipped(i.Size) }},
	{"FILTERS", "Number of filters", func(i redisbloom.Info) int64 { return int64(i.Filters) }},
	{"ITEMS", "Number of items inserted", func(i redisbloom.Info) int64 { return clipped(i.Items) }},
	{"EXPANSION", "Expansion rate", func(i redisbloom.Info) int64 {
		if i.Expansion == 0 {
			return -1
		}
		return int64(i.Expansion)
	}},
}

// clipped returns n, limited to the largest integer of a reply.
func clipped(n uint64) int64 { return int64(min(n, math.MaxInt64)) }

// info implements BF.INFO.
func (m *Module) info(c *resp.Conn, args [][]byte) {
	if len(args) > 3 {
		c.Error(infoArity)
		return
	}
	var i redisbloom.Info
	if problem := look(m.engine.Get(args[1]), notFound, func(f *redisbloom.Filter) { i = f.Info() }); problem != "" {
		c.Error(problem)
		return
	}
	if len(args) == 2 {
		c.Map(len(infoFields))
		for _, field := range infoFields {
			c.Simple(field.label)
			whole(c, field.value(i))
		}
		return
	}
	for _, field := range infoFields {
		if command.Is(args[2], field.word) {
			if c.Version() == 2 {
				c.Array(1)
			} else {
				c.Map(1)
				c.Simple(field.label)
			}
			whole(c, field.value(i))
			return
		}
	}
	c.Error(unknownInfo)
}

// whole replies a number, or null if it is negative.
func whole(c *resp.Conn, n int64) {
	if n < 0 {
		c.Null()
		return
	}
	c.Int(n)
}

// card implements BF.CARD: the number of additions that changed the filter, for other kinds than
// RedisBloom's an estimate of its keys.
func (m *Module) card(c *resp.Conn, args [][]byte) {
	f := m.engine.Get(args[1])
	if f == nil {
		c.Int(0)
		return
	}
	var n uint64
	switch problem := look(f, "", func(f *redisbloom.Filter) { n = f.Card() }); {
	case problem == "":
	case problem == wrongType && f.Kind() != cuckoo.Name:
		if n, problem = estimate(f); problem != "" {
			c.Error(problem)
			return
		}
	default:
		c.Error(problem)
		return
	}
	c.Int(clipped(n))
}

// estimate returns the estimated number of keys of a filter, or an error reply.
func estimate(f *engine.Filter) (n uint64, problem string) {
	s, err := f.Described()
	switch {
	case err != nil:
		return 0, command.Text(err)
	case s.Keys < math.MaxInt64:
		return uint64(math.Round(s.Keys)), ""
	}
	return math.MaxInt64, ""
}

// debug implements BF.DEBUG.
func (m *Module) debug(c *resp.Conn, args [][]byte) {
	var lines []string
	if problem := look(m.engine.Get(args[1]), notFound, func(f *redisbloom.Filter) { lines = f.Debug() }); problem != "" {
		c.Error(problem)
		return
	}
	c.Array(len(lines))
	for _, l := range lines {
		c.BulkString(l)
	}
}

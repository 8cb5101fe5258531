package builtin

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/node/access"
	"github.com/umbel-filters/umbel/cmd/internal/redis/command"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
)

// looks are OBJECT and MEMORY.
func (k *builtin) looks() []command.Row {
	const inner = "keyspace read slow"
	return []command.Row{
		{Name: "object", Arity: -2, Categories: "slow",
			Summary: "Inspects a filter."},
		{Name: "object|encoding", Arity: 3, Keys: command.SubKey, Right: access.Read, Flags: "readonly", Categories: inner,
			Summary: "Returns raw.", Run: k.object(func(c *resp.Conn, _ *engine.Filter) { c.BulkString("raw") })},
		{Name: "object|idletime", Arity: 3, Keys: command.SubKey, Right: access.Read, Flags: "readonly", Categories: inner,
			Summary: "Returns the seconds since a filter was last used.",
			Run:     k.object(func(c *resp.Conn, f *engine.Filter) { c.Int(f.Idle() / 1000) })},
		{Name: "object|refcount", Arity: 3, Keys: command.SubKey, Right: access.Read, Flags: "readonly", Categories: inner,
			Summary: "Returns 1.", Run: k.object(func(c *resp.Conn, _ *engine.Filter) { c.Int(1) })},
		{Name: "object|freq", Arity: 3, Keys: command.SubKey, Right: access.Read, Flags: "readonly", Categories: inner,
			Summary: "Not supported: filters are not evicted.", Run: k.object(noFrequency)},
		{Name: "object|help", Arity: 2, Flags: "loading stale", Categories: "keyspace slow",
			Summary: "Lists the subcommands.", Run: objectHelp},
		{Name: "memory", Arity: -2, Categories: "slow",
			Summary: "Reports memory usage."},
		{Name: "memory|usage", Arity: -3, Keys: command.SubKey, Right: access.Read, Flags: "readonly", Categories: "read slow",
			Summary: "Returns the memory of a filter in bytes.", Run: k.memoryUsage},
		{Name: "memory|stats", Arity: 2, Categories: "slow",
			Summary: "Reports memory usage.", Run: k.memoryStats},
		{Name: "memory|doctor", Arity: 2, Categories: "slow",
			Summary: "Compares memory usage with the limit.", Run: k.memoryDoctor},
		{Name: "memory|purge", Arity: 2, Categories: "slow",
			Summary: "No effect: memory is released automatically.", Run: func(c *resp.Conn, _ [][]byte) { c.Simple("OK") }},
		{Name: "memory|help", Arity: 2, Flags: "loading stale", Categories: "slow",
			Summary: "Lists the subcommands.", Run: memoryHelp},
	}
}

// object returns a command that replies for a filter, with null if there is none.
func (k *builtin) object(answer func(*resp.Conn, *engine.Filter)) func(*resp.Conn, [][]byte) {
	return func(c *resp.Conn, args [][]byte) {
		f := k.engine.Get(args[2])
		if f == nil {
			c.Null()
			return
		}
		answer(c, f)
	}
}

func noFrequency(c *resp.Conn, _ *engine.Filter) {
	c.Error("ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note that when switching " +
		"between policies at runtime LRU and LFU data will take some time to adjust.")
}

func (k *builtin) memoryUsage(c *resp.Conn, args [][]byte) {
	for words := args[3:]; len(words) > 0; words = words[2:] {
		if len(words) == 1 || !command.Is(words[0], "samples") {
			c.Error(syntaxError)
			return
		}
		if n, ok := command.ParseInt(words[1]); !ok {
			c.Error(notWhole)
			return
		} else if n < 0 {
			c.Error(syntaxError)
			return
		}
	}
	f := k.engine.Get(args[2])
	if f == nil {
		c.Null()
		return
	}
	c.Int(int64(memoryOf(f)))
}

// memoryOf returns the bytes of a filter and its name, which are at least the size reported by
// BF.INFO.
func memoryOf(f *engine.Filter) uint64 {
	in, _ := bloomInfo(f)
	return max(f.Bytes(), in.Size) + uint64(len(f.Name())) + nameBytes
}

// nameBytes is the approximate overhead of a name.
const nameBytes = 32

// bloomInfo returns the BF.INFO of a filter; ok is false for other kinds.
func bloomInfo(f *engine.Filter) (in redisbloom.Info, ok bool) {
	if f.Kind() != redisbloom.Name {
		return in, false
	}
	err := f.View(func(f umbel.Filter) { in = f.(*redisbloom.Filter).Info() })
	return in, err == nil
}

func (k *builtin) memoryStats(c *resp.Conn, _ [][]byte) {
	used, limit := k.engine.Memory()
	n := k.engine.Len()
	c.Map(5)
	c.BulkString("total.allocated")
	c.Int(int64(used))
	c.BulkString("keys.count")
	c.Int(int64(n))
	c.BulkString("keys.bytes-per-key")
	c.Int(int64(used) / int64(max(n, 1)))
	c.BulkString("dataset.bytes")
	c.Int(int64(used))
	c.BulkString("maxmemory")
	c.Int(int64(limit))
}

func (k *builtin) memoryDoctor(c *resp.Conn, _ [][]byte) {
	used, limit := k.engine.Memory()
	text := fmt.Sprintf("%d filters take %d bytes; there is no limit.", k.engine.Len(), used)
	if limit > 0 {
		text = fmt.Sprintf("%d filters take %d bytes, %.1f%% of the limit of %d.", k.engine.Len(), used, 100*float64(used)/float64(limit), limit)
	}
	c.Verbatim(text)
}

func objectHelp(c *resp.Conn, _ [][]byte) {
	c.Help("OBJECT",
		"ENCODING <key>", "    Return the encoding of the filter: always raw.",
		"FREQ <key>", "    Not known: no filter is evicted by frequency.",
		"IDLETIME <key>", "    Return for how many seconds the filter was neither queried nor changed.",
		"REFCOUNT <key>", "    Return the number of references: always 1.")
}

func memoryHelp(c *resp.Conn, _ [][]byte) {
	c.Help("MEMORY",
		"DOCTOR", "    Report how close the filters are to their memory limit.",
		"PURGE", "    Does nothing: memory is given back by itself.",
		"STATS", "    Return what takes memory.",
		"USAGE <key> [SAMPLES <count>]", "    Return the bytes that the filter and its name take.")
}

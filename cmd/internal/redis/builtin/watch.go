package builtin

import (
	"maps"
	"slices"

	"github.com/umbel-filters/umbel/cmd/internal/node/access"
	"github.com/umbel-filters/umbel/cmd/internal/redis/command"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
)

// watches are SLOWLOG and LATENCY.
func (k *builtin) watches() []command.Row {
	const flags, categories = "admin loading stale", "admin slow dangerous"
	return []command.Row{
		{Name: "slowlog", Arity: -2, Categories: "slow",
			Summary: "Slow log commands."},
		{Name: "slowlog|get", Arity: -2, Right: access.Admin, NotAudited: true, Flags: flags, Categories: categories,
			Summary: "Lists slow calls, the latest first.", Run: k.slowGet},
		{Name: "slowlog|len", Arity: 2, Right: access.Admin, NotAudited: true, Flags: flags, Categories: categories,
			Summary: "Returns the number of slow calls.", Run: k.slowLen},
		{Name: "slowlog|reset", Arity: 2, Right: access.Admin, Flags: flags, Categories: categories,
			Summary: "Clears the slow log.", Run: k.slowReset},
		{Name: "slowlog|help", Arity: 2, Flags: "loading stale", Categories: "slow",
			Summary: "Lists the subcommands.", Run: slowHelp},
		{Name: "latency", Arity: -2, Categories: "slow",
			Summary: "Latency commands."},
		{Name: "latency|latest", Arity: 2, Right: access.Admin, NotAudited: true,
			Flags: "admin noscript loading stale", Categories: categories,
			Summary: "Lists the latest delays.", Run: k.latencyLatest},
		{Name: "latency|history", Arity: 3, Right: access.Admin, NotAudited: true,
			Flags: "admin noscript loading stale", Categories: categories,
			Summary: "Lists the delays of an event.", Run: k.latencyHistory},
		{Name: "latency|reset", Arity: -2, Right: access.Admin, Flags: "admin noscript loading stale", Categories: categories,
			Summary: "Clears recorded delays.", Run: k.latencyReset},
		{Name: "latency|doctor", Arity: 2, Right: access.Admin, NotAudited: true,
			Flags: "admin noscript loading stale", Categories: categories,
			Summary: "Reports whether delays are recorded.", Run: k.latencyDoctor},
		{Name: "latency|help", Arity: 2, Flags: "loading stale", Categories: "slow",
			Summary: "Lists the subcommands.", Run: latencyHelp},
	}
}

func (k *builtin) slowGet(c *resp.Conn, args [][]byte) {
	n := int64(10)
	if len(args) > 3 {
		c.Error(unknownSubcommand("GET", "SLOWLOG"))
		return
	}
	if len(args) == 3 {
		var ok bool
		if n, ok = command.ParseInt(args[2]); !ok || n < -1 {
			c.Error("ERR count should be greater than or equal to -1")
			return
		}
	}
	calls := k.monitor.slowest(n)
	c.Array(len(calls))
	for _, s := range calls {
		c.Array(6)
		c.Int(s.id)
		c.Int(s.at.Unix())
		c.Int(s.took.Microseconds())
		c.Array(len(s.args))
		for _, a := range s.args {
			c.BulkString(a)
		}
		c.BulkString(s.from)
		c.BulkString("")
	}
}

func (k *builtin) slowLen(c *resp.Conn, _ [][]byte) {
	k.monitor.mu.Lock()
	defer k.monitor.mu.Unlock()
	c.Int(int64(len(k.monitor.slow)))
}

func (k *builtin) slowReset(c *resp.Conn, _ [][]byte) {
	k.monitor.mu.Lock()
	k.monitor.slow = nil
	k.monitor.mu.Unlock()
	c.Simple("OK")
}

func (k *builtin) latencyLatest(c *resp.Conn, _ [][]byte) {
	k.monitor.mu.Lock()
	defer k.monitor.mu.Unlock()
	c.Array(len(k.monitor.events))
	for _, name := range slices.Sorted(maps.Keys(k.monitor.events)) {
		e := k.monitor.events[name]
		last := e.samples[len(e.samples)-1]
		c.Array(4)
		c.BulkString(name)
		c.Int(last.at)
		c.Int(last.millis)
		c.Int(e.worst)
	}
}

func (k *builtin) latencyHistory(c *resp.Conn, args [][]byte) {
	k.monitor.mu.Lock()
	defer k.monitor.mu.Unlock()
	e := k.monitor.events[string(args[2])]
	if e == nil {
		c.Array(0)
		return
	}
	c.Array(len(e.samples))
	for _, s := range e.samples {
		c.Array(2)
		c.Int(s.at)
		c.Int(s.millis)
	}
}

func (k *builtin) latencyReset(c *resp.Conn, args [][]byte) {
	k.monitor.mu.Lock()
	defer k.monitor.mu.Unlock()
	had := len(k.monitor.events)
	for _, name := range args[2:] {
		delete(k.monitor.events, string(name))
	}
	if len(args) == 2 {
		clear(k.monitor.events)
	}
	c.Int(int64(had - len(k.monitor.events)))
}

func (k *builtin) latencyDoctor(c *resp.Conn, _ [][]byte) {
	if k.monitor.threshold.Load() == 0 {
		c.Verbatim(`Delays aren't kept. CONFIG SET latency-monitor-threshold <milliseconds> keeps them.`)
		return
	}
	c.Verbatim("Delays are kept; LATENCY LATEST lists them.")
}

func slowHelp(c *resp.Conn, _ [][]byte) {
	c.Help("SLOWLOG",
		"GET [<count>]", "    Return top <count> entries from the slowlog (default: 10, -1 mean all).",
		"    Entries are made of:", "    id, timestamp, time in microseconds of all calls that ran together,",
		"    arguments array of the first of them, client IP and port, an empty string",
		"LEN", "    Return the length of the slowlog.",
		"RESET", "    Reset the slowlog.")
}

func latencyHelp(c *resp.Conn, _ [][]byte) {
	c.Help("LATENCY",
		"DOCTOR", "    Report whether latencies are recorded.",
		"HISTORY <event>", "    Return time-latency samples for the <event> class.",
		"LATEST", "    Return the latest latency samples for all events.",
		"RESET [<event> ...]", "    Reset latency data of one or more <event> classes.",
		"    (default: reset all data for all event classes)")
}

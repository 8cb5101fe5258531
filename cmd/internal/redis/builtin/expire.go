package builtin

import (
	"fmt"
	"math"
	"strings"

	"github.com/umbel-filters/umbel/cmd/internal/node/access"
	"github.com/umbel-filters/umbel/cmd/internal/redis/command"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
)

func (k *builtin) expiry() []command.Row {
	const sets, fast = "keyspace write fast", "keyspace read fast"
	return []command.Row{
		{Name: "expire", Arity: -3, Keys: command.OneKey, Right: access.Remove, Flags: "write fast", Categories: sets,
			Summary: "Sets a filter's time to live in seconds.", Run: k.expire(1000, false)},
		{Name: "pexpire", Arity: -3, Keys: command.OneKey, Right: access.Remove, Flags: "write fast", Categories: sets,
			Summary: "Sets a filter's time to live in milliseconds.", Run: k.expire(1, false)},
		{Name: "expireat", Arity: -3, Keys: command.OneKey, Right: access.Remove, Flags: "write fast", Categories: sets,
			Summary: "Sets a filter's expiry in seconds since 1970.", Run: k.expire(1000, true)},
		{Name: "pexpireat", Arity: -3, Keys: command.OneKey, Right: access.Remove, Flags: "write fast", Categories: sets,
			Summary: "Sets a filter's expiry in milliseconds since 1970.", Run: k.expire(1, true)},
		{Name: "persist", Arity: 2, Keys: command.OneKey, Right: access.Remove, Flags: "write fast", Categories: sets,
			Summary: "Removes a filter's expiry.", Run: k.persist},
		{Name: "ttl", Arity: 2, Keys: command.OneKey, Right: access.Read, Flags: "readonly fast", Categories: fast,
			Summary: "Returns a filter's time to live in seconds.", Run: k.expires(1000, false)},
		{Name: "pttl", Arity: 2, Keys: command.OneKey, Right: access.Read, Flags: "readonly fast", Categories: fast,
			Summary: "Returns a filter's time to live in milliseconds.", Run: k.expires(1, false)},
		{Name: "expiretime", Arity: 2, Keys: command.OneKey, Right: access.Read, Flags: "readonly fast", Categories: fast,
			Summary: "Returns a filter's expiry in seconds since 1970.", Run: k.expires(1000, true)},
		{Name: "pexpiretime", Arity: 2, Keys: command.OneKey, Right: access.Read, Flags: "readonly fast", Categories: fast,
			Summary: "Returns a filter's expiry in milliseconds since 1970.", Run: k.expires(1, true)},
	}
}

// condition restricts changes of an expiry.
type condition struct{ nx, xx, gt, lt bool }

// conditions parses [NX | XX | GT | LT], or returns an error reply.
func conditions(words [][]byte) (o condition, refused string) {
	for _, w := range words {
		switch {
		case command.Is(w, "nx"):
			o.nx = true
		case command.Is(w, "xx"):
			o.xx = true
		case command.Is(w, "gt"):
			o.gt = true
		case command.Is(w, "lt"):
			o.lt = true
		default:
			return o, fmt.Sprintf("ERR Unsupported option %s", command.Clip(w))
		}
	}
	switch {
	case o.nx && (o.xx || o.gt || o.lt):
		return o, "ERR NX and XX, GT or LT options at the same time are not compatible"
	case o.gt && o.lt:
		return o, "ERR GT and LT options at the same time are not compatible"
	}
	return o, ""
}

// allow reports whether at may replace old, where 0 means never.
func (o condition) allow(old, at int64) bool {
	switch {
	case o.nx && old != 0, o.xx && old == 0:
		return false
	case o.gt && (old == 0 || at <= old), o.lt && old != 0 && at >= old:
		return false
	}
	return true
}

// expire returns the command with a time in units of unit milliseconds, relative or absolute.
func (k *builtin) expire(unit int64, absolute bool) func(*resp.Conn, [][]byte) {
	return func(c *resp.Conn, args [][]byte) {
		o, refused := conditions(args[3:])
		if refused != "" {
			c.Error(refused)
			return
		}
		at, ok := command.ParseInt(args[2])
		if !ok {
			c.Error(notWhole)
			return
		}
		var from int64
		if !absolute {
			from = k.engine.Now()
		}
		if at > math.MaxInt64/unit || at < math.MinInt64/unit || at*unit > math.MaxInt64-from {
			c.Error(fmt.Sprintf("ERR invalid expire time in '%s' command", strings.ToLower(string(args[0]))))
			return
		}
		at = at*unit + from
		k.expireIf(c, args[1], at, func(old int64) bool { return o.allow(old, at) })
	}
}

func (k *builtin) persist(c *resp.Conn, args [][]byte) {
	k.expireIf(c, args[1], never, func(old int64) bool { return old != 0 })
}

// never is the time of a filter that does not expire. To Redis, 0 is in 1970.
const never = math.MinInt64

// expireIf sets the expiry of a filter if allow returns true for the current one. It replies 1 if it
// did.
func (k *builtin) expireIf(c *resp.Conn, name []byte, at int64, allow func(old int64) bool) {
	f := k.engine.Get(name)
	if f == nil {
		c.Int(0)
		return
	}
	switch at {
	case never:
		at = 0
	case 0:
		at = -1
	}
	done, pos, err := f.ExpireIf(at, allow)
	if err == nil && !done {
		c.Commit(uint64(pos))
		c.Int(0)
		return
	}
	replyOK(c, pos, err)
}

// expires returns the command that replies the expiry in units of unit milliseconds: -2
// without a filter, -1 without an expiry.
func (k *builtin) expires(unit int64, absolute bool) func(*resp.Conn, [][]byte) {
	return func(c *resp.Conn, args [][]byte) {
		f := k.engine.Get(args[1])
		if f == nil {
			c.Int(-2)
			return
		}
		at := f.Expires()
		if at == 0 {
			c.Int(-1)
			return
		}
		if !absolute {
			at = max(at-k.engine.Now(), 0)
		}
		c.Int(at/unit + at%unit*2/unit) // rounded, without overflow
	}
}

package keyspace

import (
	"fmt"
	"math"
	"strings"

	"github.com/umbel-filters/umbel/cmd/internal/resp"
)

func (k *keyspace) expiry() []row {
	const sets, fast = "keyspace write fast", "keyspace read fast"
	return []row{
		{"expire", -3, oneKey, "remove", "write fast", sets, "Sets in how many seconds a filter is forgotten.", k.expire(1000, false)},
		{"pexpire", -3, oneKey, "remove", "write fast", sets, "Sets in how many milliseconds a filter is forgotten.", k.expire(1, false)},
		{"expireat", -3, oneKey, "remove", "write fast", sets, "Sets at which second since 1970 a filter is forgotten.", k.expire(1000, true)},
		{"pexpireat", -3, oneKey, "remove", "write fast", sets, "Sets at which millisecond since 1970 a filter is forgotten.", k.expire(1, true)},
		{"persist", 2, oneKey, "remove", "write fast", sets, "Keeps a filter that was to be forgotten.", k.persist},
		{"ttl", 2, oneKey, "read", "readonly fast", fast, "Tells in how many seconds a filter is forgotten.", k.expires(1000, false)},
		{"pttl", 2, oneKey, "read", "readonly fast", fast, "Tells in how many milliseconds a filter is forgotten.", k.expires(1, false)},
		{"expiretime", 2, oneKey, "read", "readonly fast", fast, "Tells at which second since 1970 a filter is forgotten.", k.expires(1000, true)},
		{"pexpiretime", 2, oneKey, "read", "readonly fast", fast, "Tells at which millisecond since 1970 a filter is forgotten.", k.expires(1, true)},
	}
}

// condition says when a new time is taken.
type condition struct{ nx, xx, gt, lt bool }

// conditions reads [NX | XX | GT | LT]; the error is a reply.
func conditions(words [][]byte) (o condition, refused string) {
	for _, w := range words {
		switch {
		case is(w, "nx"):
			o.nx = true
		case is(w, "xx"):
			o.xx = true
		case is(w, "gt"):
			o.gt = true
		case is(w, "lt"):
			o.lt = true
		default:
			return o, fmt.Sprintf("ERR Unsupported option %s", oneLine(w))
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

// allow reports whether the time at may take the place of old, where 0 is never.
func (o condition) allow(old, at int64) bool {
	switch {
	case o.nx && old != 0, o.xx && old == 0:
		return false
	case o.gt && (old == 0 || at <= old), o.lt && old != 0 && at >= old:
		return false
	}
	return true
}

// expire returns the command whose numbers are of so many milliseconds, from now or from 1970.
func (k *keyspace) expire(unit int64, absolute bool) func(*resp.Conn, [][]byte) {
	return func(c *resp.Conn, args [][]byte) {
		o, refused := conditions(args[3:])
		if refused != "" {
			c.Error(refused)
			return
		}
		at, ok := whole(args[2])
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
		f := k.engine.Get(args[1])
		if f == nil || !o.allow(f.Expires(), at) {
			c.Int(0)
			return
		}
		if at == 0 { // which is never to the engine, and 1970 to Redis
			at = -1
		}
		pos, err := f.Expire(at)
		done(c, pos, err)
	}
}

func (k *keyspace) persist(c *resp.Conn, args [][]byte) {
	f := k.engine.Get(args[1])
	if f == nil || f.Expires() == 0 {
		c.Int(0)
		return
	}
	pos, err := f.Expire(0)
	done(c, pos, err)
}

// expires returns the command that answers in so many milliseconds: -2 without a filter,
// -1 where it is kept for ever.
func (k *keyspace) expires(unit int64, absolute bool) func(*resp.Conn, [][]byte) {
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
		c.Int(at/unit + at%unit*2/unit) // to the nearest, without an overflow
	}
}

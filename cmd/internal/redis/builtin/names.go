package builtin

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/node/access"
	"github.com/umbel-filters/umbel/cmd/internal/redis/command"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
)

func (k *builtin) names() []command.Row {
	return []command.Row{
		{Name: "del", Arity: -2, Keys: command.AllKeys, Right: access.Remove, Flags: "write", Categories: "keyspace write slow",
			Summary: "Deletes filters.", Run: k.del},
		{Name: "unlink", Arity: -2, Keys: command.AllKeys, Right: access.Remove,
			Flags: "write fast", Categories: "keyspace write fast",
			Summary: "Deletes filters.", Run: k.del},
		{Name: "exists", Arity: -2, Keys: command.AllKeys, Right: access.Read,
			Flags: "readonly fast", Categories: "keyspace read fast",
			Summary: "Counts the names that are filters.", Run: k.exists},
		{Name: "touch", Arity: -2, Keys: command.AllKeys, Right: access.Read,
			Flags: "readonly fast", Categories: "keyspace read fast",
			Summary: "Counts the names that are filters.", Run: k.exists},
		{Name: "type", Arity: 2, Keys: command.OneKey, Right: access.Read, Flags: "readonly fast", Categories: "keyspace read fast",
			Summary: "Returns the type of a filter.", Run: k.typeOf},
		{Name: "rename", Arity: 3, Keys: command.TwoKeys, Makes: 2, Right: access.Remove,
			Flags: "write", Categories: "keyspace write slow",
			Summary: "Renames a filter, replacing one with the new name.", Run: k.rename},
		{Name: "renamenx", Arity: 3, Keys: command.TwoKeys, Makes: 2, Right: access.Remove,
			Flags: "write fast", Categories: "keyspace write fast",
			Summary: "Renames a filter unless the new name is taken.", Run: k.renameNX},
		{Name: "copy", Arity: -3, Keys: command.TwoKeys, Makes: 2, Right: access.Read,
			Flags: "write denyoom", Categories: "keyspace write slow",
			Summary: "Copies a filter.", Long: command.Named, Run: k.copy},
		{Name: "randomkey", Arity: 1, Flags: "readonly", Categories: "keyspace read slow",
			Summary: "Returns the name of a random filter.", Run: k.randomKey},
		{Name: "dbsize", Arity: 1, Flags: "readonly fast", Categories: "keyspace read fast",
			Summary: "Returns the number of filters.", Run: k.dbSize},
	}
}

func (k *builtin) del(c *resp.Conn, args [][]byte) {
	var n int64
	for _, name := range args[1:] {
		there, pos, err := k.engine.Delete(name)
		c.Commit(uint64(pos))
		if err != nil {
			command.Fail(c, err)
			return
		}
		if there {
			n++
		}
	}
	c.Int(n)
}

func (k *builtin) exists(c *resp.Conn, args [][]byte) {
	var n int64
	for _, name := range args[1:] {
		if k.engine.Get(name) != nil {
			n++
		}
	}
	c.Int(n)
}

func (k *builtin) typeOf(c *resp.Conn, args [][]byte) {
	f := k.engine.Get(args[1])
	if f == nil {
		c.Simple("none")
		return
	}
	c.Simple(k.dumper.Type(f))
}

// mayRename reports whether the client has the rights on both names, or replies an error. Reading
// is needed because others may read the filter under the new name.
func mayRename(c *resp.Conn, from, to []byte) bool {
	return command.Require(c, from, access.Read) && command.Require(c, to, access.Add) // the table checks the right to remove both
}

func (k *builtin) rename(c *resp.Conn, args [][]byte) {
	if !mayRename(c, args[1], args[2]) {
		return
	}
	pos, err := k.engine.Rename(args[1], args[2], true)
	if errors.Is(err, engine.ErrNotFound) {
		c.Error(noSuchKey)
		return
	}
	command.OK(c, pos, err)
}

func (k *builtin) renameNX(c *resp.Conn, args [][]byte) {
	if !mayRename(c, args[1], args[2]) {
		return
	}
	pos, err := k.engine.Rename(args[1], args[2], false)
	switch {
	case errors.Is(err, engine.ErrNotFound):
		c.Error(noSuchKey)
	case errors.Is(err, engine.ErrExists):
		c.Commit(uint64(pos))
		c.Int(0)
	default:
		replyOK(c, pos, err)
	}
}

// copy refuses the types of RedisBloom, with Redis' text; UM.COPY copies them.
func (k *builtin) copy(c *resp.Conn, args [][]byte) {
	from, to := args[1], args[2]
	replace := false
	for i := 3; i < len(args); i++ {
		switch {
		case command.Is(args[i], "replace"):
			replace = true
		case command.Is(args[i], "db") && i+1 < len(args):
			i++
			if db, ok := command.ParseInt(args[i]); !ok {
				c.Error(notWhole)
				return
			} else if db != 0 {
				c.Error("ERR DB index is out of range")
				return
			}
		default:
			c.Error(syntaxError)
			return
		}
	}
	if string(from) == string(to) {
		c.Error("ERR source and destination objects are the same")
		return
	}
	f := k.engine.Get(from)
	if f == nil || !replace && k.engine.Get(to) != nil {
		c.Int(0)
		return
	}
	if strings.HasPrefix(k.dumper.Type(f), "MBbloom") {
		c.Error("ERR not supported for this module key")
		return
	}
	if !command.Require(c, to, access.Add) || replace && !command.Require(c, to, access.Remove) {
		return
	}
	pos, err := k.engine.Copy(from, to, replace)
	if errors.Is(err, engine.ErrExists) {
		c.Int(0)
		return
	}
	replyOK(c, pos, err)
}

// randomKey tries a few random filters, then all, because a user may see only some.
func (k *builtin) randomKey(c *resp.Conn, _ [][]byte) {
	for range 16 {
		f := k.engine.Pick(rand.Uint64())
		if f == nil {
			break
		}
		if canRead(c, f) {
			c.BulkString(f.Name())
			return
		}
	}
	var name *string
	k.engine.List(0, math.MaxInt, func(f *engine.Filter) bool {
		if canRead(c, f) {
			n := f.Name()
			name = &n
		}
		return name == nil
	})
	if name == nil {
		c.Null()
		return
	}
	c.BulkString(*name)
}

func (k *builtin) dbSize(c *resp.Conn, _ [][]byte) { c.Int(int64(k.engine.Len())) }

// each calls f with all filters; filters made or deleted meanwhile may be missing.
func (k *builtin) each(f func(*engine.Filter)) {
	k.engine.List(0, math.MaxInt, func(g *engine.Filter) bool {
		f(g)
		return true
	})
}

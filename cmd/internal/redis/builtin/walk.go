package builtin

import (
	"math"
	"strconv"
	"strings"

	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/node/glob"
	"github.com/umbel-filters/umbel/cmd/internal/redis/command"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
)

func (k *builtin) walks() []command.Row {
	return []command.Row{
		{Name: "keys", Arity: 2, Flags: "readonly", Categories: "keyspace read slow dangerous",
			Summary: "Lists the names that match a pattern.", Run: k.keys},
		{Name: "scan", Arity: -2, Flags: "readonly", Categories: "keyspace read slow",
			Summary: "Iterates over names.", Run: k.scan},
	}
}

// longestPattern is the maximum length of a pattern in bytes, because matching may take time in the
// order of its length times that of the name.
const longestPattern = 4 << 10

const patternTooLong = "ERR the pattern is too long"

func (k *builtin) keys(c *resp.Conn, args [][]byte) {
	if len(args[1]) > longestPattern {
		c.Error(patternTooLong)
		return
	}
	var names []string
	k.each(func(f *engine.Filter) {
		if glob.Match(args[1], f.Name()) && canRead(c, f) {
			names = append(names, f.Name())
		}
	})
	c.Array(len(names))
	for _, name := range names {
		c.BulkString(name)
	}
}

// filterOf is the selection by SCAN's options.
type filterOf struct {
	count   int
	match   []byte
	types   string
	byMatch bool
	byType  bool
}

// scanOptions parses [MATCH pattern] [COUNT n] [TYPE type], or returns an error reply.
func scanOptions(words [][]byte) (o filterOf, refused string) {
	o.count = 10
	for ; len(words) > 0; words = words[2:] {
		switch {
		case len(words) == 1:
			return o, syntaxError
		case command.Is(words[0], "count"):
			n, ok := command.ParseInt(words[1])
			if !ok {
				return o, notWhole
			}
			if n < 1 {
				return o, syntaxError
			}
			o.count = int(min(n, math.MaxInt32))
		case command.Is(words[0], "match"):
			if len(words[1]) > longestPattern {
				return o, patternTooLong
			}
			o.match, o.byMatch = words[1], true
		case command.Is(words[0], "type"):
			o.types, o.byType = string(words[1]), true
		default:
			return o, syntaxError
		}
	}
	return o, ""
}

func (k *builtin) scan(c *resp.Conn, args [][]byte) {
	cursor, err := strconv.ParseUint(string(args[1]), 10, 64)
	if err != nil {
		c.Error("ERR invalid cursor")
		return
	}
	o, refused := scanOptions(args[2:])
	if refused != "" {
		c.Error(refused)
		return
	}
	var names []string
	next := k.engine.List(cursor, o.count, func(f *engine.Filter) bool {
		if (!o.byMatch || glob.Match(o.match, f.Name())) && (!o.byType || strings.EqualFold(k.dumper.Type(f), o.types)) && canRead(c, f) {
			names = append(names, f.Name())
		}
		return true
	})
	c.Array(2)
	c.BulkString(strconv.FormatUint(next, 10))
	c.Array(len(names))
	for _, name := range names {
		c.BulkString(name)
	}
}

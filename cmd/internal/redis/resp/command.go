package resp

import (
	"bytes"
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"
)

func commandCommands() Table {
	flags, slow := []string{"loading", "stale"}, []string{"@slow", "@connection"}
	return Table{
		"command": {Arity: -1, Flags: flags, Categories: slow, Summary: "Describes all commands.", Run: commandInfo},
		"command|count": {Arity: 2, Flags: flags, Categories: slow, Summary: "Returns the number of commands.",
			Run: func(c *Conn, _ [][]byte) { c.Int(int64(len(c.s.commands))) }},
		"command|info":            {Arity: -2, Flags: flags, Categories: slow, Summary: "Describes commands.", Run: commandInfo},
		"command|docs":            {Arity: -2, Flags: flags, Categories: slow, Summary: "Documents commands.", Run: commandDocs},
		"command|list":            {Arity: -2, Flags: flags, Categories: slow, Summary: "Lists the names of commands.", Run: commandList},
		"command|getkeys":         {Arity: -4, Flags: flags, Categories: slow, Summary: "Returns the keys of a call.", Run: commandGetKeys},
		"command|getkeysandflags": {Arity: -4, Flags: flags, Categories: slow, Summary: "Returns the keys of a call and their access flags.", Run: commandGetKeys},
		"command|help":            {Arity: 2, Flags: flags, Categories: slow, Summary: "Lists the subcommands.", Run: commandHelp},
	}
}

func (d dispatch) sorted() []string { return slices.Sorted(maps.Keys(d)) }

func commandInfo(c *Conn, args [][]byte) {
	if len(args) <= 2 {
		all := c.s.commands.sorted()
		c.Array(len(all))
		for _, name := range all {
			c.describeCommand(c.s.commands[name])
		}
		return
	}
	c.Array(len(args) - 2)
	for _, name := range args[2:] {
		if e := c.s.commands.named(name); e != nil {
			c.describeCommand(e)
		} else {
			c.Null()
		}
	}
}

// describeCommand replies the ten elements of COMMAND INFO.
func (c *Conn) describeCommand(e *entry) {
	c.Array(10)
	c.BulkString(e.Name)
	c.Int(int64(e.Arity))
	c.simples(e.Flags)
	c.Int(int64(e.FirstKey))
	c.Int(int64(e.LastKey))
	c.Int(int64(e.Step))
	c.simples(e.Categories)
	c.Set(0) // tips
	if e.FirstKey > 0 {
		c.Set(1)
		c.describeKeys(e)
	} else {
		c.Set(0)
	}
	if e.subs == nil {
		c.Set(0)
		return
	}
	c.Array(len(e.subs))
	for _, name := range e.subs.sorted() {
		c.describeCommand(e.subs[name])
	}
}

func (c *Conn) simples(words []string) {
	c.Set(len(words))
	for _, w := range words {
		c.Simple(w)
	}
}

// describeKeys replies the key specification.
func (c *Conn) describeKeys(e *entry) {
	last := e.LastKey
	if last > 0 {
		last -= e.FirstKey
	}
	c.Map(3)
	c.BulkString("flags")
	c.simples(e.keyFlags())
	c.BulkString("begin_search")
	c.Map(2)
	c.BulkString("type")
	c.BulkString("index")
	c.BulkString("spec")
	c.Map(1)
	c.BulkString("index")
	c.Int(int64(e.FirstKey))
	c.BulkString("find_keys")
	c.Map(2)
	c.BulkString("type")
	c.BulkString("range")
	c.BulkString("spec")
	c.Map(3)
	c.BulkString("lastkey")
	c.Int(int64(last))
	c.BulkString("keystep")
	c.Int(int64(e.Step))
	c.BulkString("limit")
	c.Int(0)
}

func (e *entry) keyFlags() []string {
	if e.has("write") {
		return []string{"RW"}
	}
	return []string{"RO"}
}

func commandDocs(c *Conn, args [][]byte) {
	var found []*entry
	for _, name := range args[2:] {
		if e := c.s.commands.named(name); e != nil {
			found = append(found, e)
		}
	}
	if len(args) == 2 {
		for _, name := range c.s.commands.sorted() {
			found = append(found, c.s.commands[name])
		}
	}
	c.Map(len(found))
	for _, e := range found {
		c.document(e)
	}
}

// document replies a command's name and documentation.
func (c *Conn) document(e *entry) {
	group := e.Group
	if group == "" {
		group = "module"
	}
	c.BulkString(e.Name)
	if e.subs == nil {
		c.Map(3)
	} else {
		c.Map(4)
	}
	c.BulkString("summary")
	c.BulkString(e.Summary)
	c.BulkString("since")
	c.BulkString(cmp.Or(e.Since, "1.0.0"))
	c.BulkString("group")
	c.BulkString(group)
	if e.subs != nil {
		c.BulkString("subcommands")
		c.Map(len(e.subs))
		for _, name := range e.subs.sorted() {
			c.document(e.subs[name])
		}
	}
}

func commandList(c *Conn, args [][]byte) {
	matches := func(*entry) bool { return true }
	switch options := args[2:]; {
	case len(options) == 0:
	case len(options) == 3 && bytes.EqualFold(options[0], []byte("FILTERBY")):
		filter, ok := commandFilter(string(options[1]), string(options[2]))
		if !ok {
			c.Error(syntax)
			return
		}
		matches = filter
	default:
		c.Error(syntax)
		return
	}
	var names []string
	var collect func(dispatch)
	filtered := len(args) > 2
	collect = func(d dispatch) {
		for _, name := range d.sorted() {
			e := d[name]
			if matches(e) {
				names = append(names, e.Name)
			}
			if filtered {
				collect(e.subs)
			}
		}
	}
	collect(c.s.commands)
	c.Array(len(names))
	for _, name := range names {
		c.BulkString(name)
	}
}

// commandFilter parses the arguments of COMMAND LIST FILTERBY.
func commandFilter(by, value string) (matches func(*entry) bool, ok bool) {
	value = strings.ToLower(value)
	switch strings.ToLower(by) {
	case "module":
		return func(e *entry) bool { return e.has("module") && strings.HasPrefix(e.Name, value+".") }, true
	case "aclcat":
		return func(e *entry) bool { return slices.Contains(e.Categories, "@"+value) }, true
	case "pattern":
		return func(e *entry) bool { matches, err := path.Match(value, e.Name); return err == nil && matches }, true
	}
	return nil, false
}

func commandGetKeys(c *Conn, args [][]byte) {
	call := args[2:]
	e, reply := c.s.commands.resolve(call)
	switch {
	case e == nil && strings.HasPrefix(reply, "ERR wrong"):
		c.Error("ERR Invalid number of arguments specified for command")
		return
	case e == nil:
		c.Error("ERR Invalid command specified")
		return
	}
	var keys [][]byte
	e.Keys(call, func(key []byte) bool { keys = append(keys, key); return true })
	if len(keys) == 0 {
		c.Error("ERR The command has no key arguments")
		return
	}
	flags := bytes.EqualFold(args[1], []byte("GETKEYSANDFLAGS"))
	c.Array(len(keys))
	for _, key := range keys {
		if flags {
			c.Array(2)
		}
		c.Bulk(key)
		if flags {
			c.simples(e.keyFlags())
		}
	}
}

func commandHelp(c *Conn, _ [][]byte) {
	c.Help("COMMAND",
		"(no subcommand)", "    Return details about all commands.",
		"COUNT", "    Return the total number of commands.",
		"LIST [FILTERBY (MODULE <name>|ACLCAT <category>|PATTERN <pattern>)]", "    Return a list of all commands.",
		"INFO [<command-name> ...]", "    Return details about commands, or all of them.",
		"DOCS [<command-name> ...]", "    Return documentation details about commands, or all of them.",
		"GETKEYS <full-command>", "    Return the keys from a full command.",
		"GETKEYSANDFLAGS <full-command>", "    Return the keys and the access flags from a full command.",
	)
}

// Package um implements the commands UM.*, which make, merge, intersect, fold, export, patch and plan
// filters of any kind.
//
// The first argument is the name of a filter. Numbers are written as on the command line: 1M, 64KiB, 1%. A
// query of a missing filter is an error, so that a misspelt name is noticed. docs/node-commands.md lists
// all commands and replies.
package um

import (
	"slices"
	"strings"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/node/access"
	"github.com/umbel-filters/umbel/cmd/internal/redis/command"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
)

// Options are the defaults of new filters.
type Options struct {
	Hasher umbel.Hasher
	// Publish publishes a filter now and returns the version: see package publish.
	Publish func(filter string) (version uint64, err error)
}

// Commands returns the table of the package.
func Commands(e *engine.Engine, o Options) resp.Table {
	u := &um{engine: e, options: o}
	return command.Table(e, u.rows()...)
}

// long is command.Long: the bytes of the filters and of the arguments.
func long(named uint64, args [][]byte) uint64 {
	for _, a := range args[1:] {
		named += uint64(len(a))
	}
	return named
}

// um is the state of the commands.
type um struct {
	engine  *engine.Engine
	options Options
}

func (u *um) rows() []command.Row {
	return slices.Concat(u.makes(), u.items(), u.looks(), u.shapes(), u.joins(), u.moves(), []command.Row{
		{Name: "um.acknowledge", Arity: 1, Right: access.Admin, Flags: "admin", Categories: "admin slow umbel",
			Summary: "Ends the state in which names of filters may be missing after a loss of data.", Run: u.acknowledge},
		{Name: "um.help", Syntax: "[command]", Arity: -1, Flags: "readonly", Categories: "read slow umbel",
			Summary: "Lists the commands, or describes one.", Run: u.help},
	})
}

// acknowledge replies whether names may have been missing.
func (u *um) acknowledge(c *resp.Conn, _ [][]byte) {
	done, pos, err := u.engine.Acknowledge()
	c.Commit(uint64(pos))
	if err != nil {
		command.Fail(c, err)
		return
	}
	c.Bool(done)
}

func (u *um) help(c *resp.Conn, args [][]byte) {
	rows := u.rows()
	if len(args) > 1 {
		name := strings.ToLower(string(args[1]))
		rows = slices.DeleteFunc(rows, func(r command.Row) bool { return r.Name != name && r.Name != "um."+name })
		if len(rows) == 0 {
			c.Error("ERR unknown command " + command.Quote(args[1]) + "; UM.HELP lists all")
			return
		}
	}
	c.Array(2 * len(rows))
	for _, r := range rows {
		c.Simple(strings.TrimSpace(strings.ToUpper(r.Name) + " " + r.Syntax))
		c.Simple("    " + r.Summary)
	}
}

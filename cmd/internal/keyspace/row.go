package keyspace

import (
	"slices"
	"strings"

	"github.com/umbel-filters/umbel/cmd/internal/resp"
)

// row is a command as a line of a table.
type row struct {
	name       string
	arity      int
	keys       span
	right      string
	flags      string // as in COMMAND INFO, separated by spaces
	categories string // without @
	summary    string
	run        func(c *resp.Conn, args [][]byte)
}

// span says which words of a command are names.
type span struct{ first, last, step int }

var (
	noKeys  = span{}
	oneKey  = span{1, 1, 1}
	twoKeys = span{1, 2, 1}
	allKeys = span{1, -1, 1}
	subKey  = span{2, 2, 1} // after a subcommand
)

func (r row) command() *resp.Command {
	var categories []string
	for _, c := range strings.Fields(r.categories) {
		categories = append(categories, "@"+c)
	}
	group := "server"
	if slices.Contains(categories, "@keyspace") {
		group = "generic"
	}
	return &resp.Command{
		Name: r.name, Group: group, Arity: r.arity, Flags: strings.Fields(r.flags), Categories: categories,
		FirstKey: r.keys.first, LastKey: r.keys.last, Step: r.keys.step,
		Right: r.right, Summary: r.summary, Run: r.run,
	}
}

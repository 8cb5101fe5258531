package redisbloom

import (
	"strings"

	"github.com/umbel-filters/umbel/cmd/internal/resp"
)

// row is a command as a line of a table.
type row struct {
	name       string
	arity      int
	right      string
	flags      string // "write denyoom"; "module" is added
	categories string // "write fast", without that of the module
	summary    string
	run        func(c *resp.Conn, args [][]byte)
	runAll     func(c *resp.Conn, calls [][][]byte)
}

// commands makes commands with one key each; category is that of the module.
func commands(rows []row, category string) []*resp.Command {
	var cs []*resp.Command
	for _, r := range rows {
		kind, more, _ := strings.Cut(r.flags, " ")
		flags := []string{kind}
		if more == "fast" {
			flags = append(flags, "module", "fast")
		} else {
			flags = append(append(flags, strings.Fields(more)...), "module")
		}
		var categories []string
		for _, c := range strings.Fields(r.categories + " " + category) {
			categories = append(categories, "@"+c)
		}
		run := r.run
		if run == nil {
			run = func(c *resp.Conn, args [][]byte) { r.runAll(c, alone(c, args)) }
		}
		cs = append(cs, &resp.Command{
			Name: r.name, Arity: r.arity, Flags: flags, Categories: categories,
			FirstKey: 1, LastKey: 1, Step: 1,
			Right: r.right, Summary: r.summary, Run: run, RunAll: r.runAll,
		})
	}
	return cs
}

// markLong marks the commands that allocate a filter or validate all of it. What they work through is
// limited by the memory limit and the length of a transaction.
func markLong(t resp.Table) {
	for _, name := range []string{"bf.reserve", "bf.loadchunk", "cf.reserve", "cf.loadchunk"} {
		if cmd := t[name]; cmd != nil {
			cmd.Long = func([][]byte) uint64 { return 0 }
		}
	}
}

func (m *Module) bloomCommands() []*resp.Command {
	return commands([]row{
		{"bf.reserve", -4, "add", "write denyoom", "write fast", "Makes an empty filter with a capacity and an error rate.", m.reserve, nil},
		{"bf.add", 3, "add", "write denyoom", "write", "Adds an item; makes a missing filter.", nil, m.add},
		{"bf.madd", -3, "add", "write denyoom", "write", "Adds items; makes a missing filter.", nil, m.addMany},
		{"bf.insert", -4, "add", "write denyoom", "write", "Adds items; makes a missing filter with options.", m.insert, nil},
		{"bf.exists", 3, "read", "readonly fast", "read", "Queries whether an item may have been added.", nil, m.exists},
		{"bf.mexists", -3, "read", "readonly fast", "read", "Queries which items may have been added.", nil, m.existMany},
		{"bf.card", 2, "read", "readonly fast", "read fast", "Returns the number of added items.", m.card, nil},
		{"bf.info", -2, "read", "readonly fast", "read fast", "Returns size, capacity and growth of a filter.", m.info, nil},
		{"bf.debug", 2, "read", "readonly", "read", "Describes the layers of a filter.", m.debug, nil},
		{"bf.scandump", 3, "read", "readonly", "read", "Dumps a filter in chunks for BF.LOADCHUNK.", m.scanDump, nil},
		{"bf.loadchunk", 4, "add", "write denyoom", "write", "Loads a chunk of BF.SCANDUMP.", m.loadChunk, nil},
	}, "bloom")
}

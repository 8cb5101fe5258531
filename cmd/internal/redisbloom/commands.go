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
	flags      string // "write denyoom"; "module" goes without saying
	categories string // "write fast", without that of the module
	summary    string
	run        func(c *resp.Conn, args [][]byte)
	runAll     func(c *resp.Conn, calls [][][]byte)
}

// commands makes commands of one key each; category is the module's.
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

func (m *Module) bloomCommands() []*resp.Command {
	return commands([]row{
		{"bf.reserve", -4, "add", "write denyoom", "write fast", "Makes an empty filter for so many items at an error rate.", m.reserve, nil},
		{"bf.add", 3, "add", "write denyoom", "write", "Adds an item; makes the filter if there is none.", nil, m.add},
		{"bf.madd", -3, "add", "write denyoom", "write", "Adds items; makes the filter if there is none.", nil, m.addMany},
		{"bf.insert", -4, "add", "write denyoom", "write", "Adds items; makes the filter as it says if there is none.", m.insert, nil},
		{"bf.exists", 3, "read", "readonly fast", "read", "Tells whether an item may have been added.", nil, m.exists},
		{"bf.mexists", -3, "read", "readonly fast", "read", "Tells which of the items may have been added.", nil, m.existMany},
		{"bf.card", 2, "read", "readonly fast", "read fast", "Tells how many items were added.", m.card, nil},
		{"bf.info", -2, "read", "readonly fast", "read fast", "Tells size, capacity and growth of a filter.", m.info, nil},
		{"bf.debug", 2, "read", "readonly", "read", "Describes the layers of a filter.", m.debug, nil},
		{"bf.scandump", 3, "read", "readonly", "read", "Gives a filter in pieces, for BF.LOADCHUNK.", m.scanDump, nil},
		{"bf.loadchunk", 4, "add", "write denyoom", "write", "Takes a piece of a filter that BF.SCANDUMP gave.", m.loadChunk, nil},
	}, "bloom")
}

package redisbloom

import (
	"github.com/umbel-filters/umbel/cmd/internal/command"
	"github.com/umbel-filters/umbel/cmd/internal/resp"
	"github.com/umbel-filters/umbel/filter/redisbloom"
)

const (
	scanNotNumeric = "Second argument must be numeric"
	loadNotNumeric = "ERR " + scanNotNumeric
)

// scanDump implements BF.SCANDUMP.
func (m *Module) scanDump(c *resp.Conn, args [][]byte) {
	iter, ok := command.ParseInt(args[2])
	var next int64
	var data []byte
	var err error
	problem := look(m.engine.Get(args[1]), notFound, func(f *redisbloom.Filter) {
		if err = notPortable(f.Hasher()); err == nil && ok {
			next, data, err = f.ScanDump(iter)
		}
	})
	if problem == "" && !ok {
		problem, err = scanNotNumeric, nil
	}
	if err != nil {
		problem = command.Text(err)
	}
	if problem != "" {
		c.Error(problem)
		return
	}
	c.Array(2)
	c.Int(next)
	c.Bulk(data)
}

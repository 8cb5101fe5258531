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
	if !ok {
		c.Error(scanNotNumeric)
		return
	}
	var next int64
	var data []byte
	var err error
	problem := look(m.engine.Get(args[1]), notFound, func(f *redisbloom.Filter) {
		if err = notPortable(f.Hasher()); err == nil {
			next, data, err = f.ScanDump(iter)
		}
	})
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

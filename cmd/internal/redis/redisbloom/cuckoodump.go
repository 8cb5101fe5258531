package redisbloom

import (
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/redis/command"
	"github.com/umbel-filters/umbel/cmd/internal/redis/cuckoo"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
	"github.com/umbel-filters/umbel/wire"
)

const (
	badPosition  = "Invalid position"
	badHeader    = "Couldn't create filter!"
	chunkRefused = "Couldn't load chunk!"

	foreignHeader = "Invalid header: only the chunks of CF.SCANDUMP of an umbel node can be loaded, not those of RedisBloom"
)

// cuckooScanDump implements CF.SCANDUMP.
func (m *Module) cuckooScanDump(c *resp.Conn, args [][]byte) {
	iter, ok := command.ParseInt(args[2])
	next, data := int64(0), []byte(nil)
	var err error
	f := m.engine.Get(args[1])
	problem := look(f, notFound, func(f *cuckoo.Filter) {
		if err = notPortable(f.State().Hasher); err == nil && ok {
			next, data = f.ScanDump(iter)
		}
	})
	if problem == "" && (!ok || iter < 0) {
		problem, err = badPosition, nil
	}
	switch {
	case !replyNext(c, f, next, problem, err):
	case data == nil:
		c.Null()
	default:
		c.Bulk(data)
	}
}

// cuckooLoadChunk implements CF.LOADCHUNK: see loadChunk.
func (m *Module) cuckooLoadChunk(c *resp.Conn, args [][]byte) {
	name, data := args[1], args[3]
	iter, ok := command.ParseInt(args[2])
	f := m.engine.Get(name)
	if f == nil {
		pos, problem := m.cuckooLoadHeader(name, iter, data)
		replyOK(c, pos, problem)
		return
	}
	var parts []uint64
	if problem := look(f, notFound, func(f *cuckoo.Filter) { parts = layerBytes(f.State()) }); problem != "" {
		c.Error(problem)
		return
	}
	if !ok || iter < 1 {
		c.Error(badPosition)
		return
	}
	if iter == 1 { // a header
		c.Error(itemExists)
		return
	}
	m.writeChunk(c, f, parts, iter, data, chunkRefused)
}

func (m *Module) cuckooLoadHeader(name []byte, iter int64, header []byte) (engine.Position, string) {
	if iter != 1 {
		return 0, m.absent()
	}
	f, err := cuckoo.FromHeader(header, m.engine.FreeMemory(wire.DefaultBytes))
	return m.putHeader(name, f, err, badHeader)
}

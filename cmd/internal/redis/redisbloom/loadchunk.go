package redisbloom

import (
	"cmp"
	"errors"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/node/access"
	"github.com/umbel-filters/umbel/cmd/internal/redis/command"
	"github.com/umbel-filters/umbel/cmd/internal/redis/cuckoo"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
	"github.com/umbel-filters/umbel/wire"
)

const (
	badData     = "ERR received bad data"
	noLink      = "ERR invalid offset - no link found"
	chunkTooBig = "ERR invalid chunk - Too big for current filter"
)

// loadChunk implements BF.LOADCHUNK. A header makes a filter, and further chunks overwrite its
// bytes. The filter is complete when all its bytes have arrived. Later chunks overwrite it, as in
// RedisBloom, and need the right to remove.
func (m *Module) loadChunk(c *resp.Conn, args [][]byte) {
	name, data := args[1], args[3]
	iter, ok := command.ParseInt(args[2])
	if !ok {
		c.Error(loadNotNumeric)
		return
	}
	f := m.engine.Get(name)
	if f == nil {
		pos, problem := m.loadHeader(name, iter, data)
		replyOK(c, pos, problem)
		return
	}
	var layers []uint64
	if problem := look(f, notFound, func(f *redisbloom.Filter) { layers = layerBytes(f.State()) }); problem != "" {
		c.Error(problem)
		return
	}
	m.writeChunk(c, f, layers, iter, data, "")
}

// writeChunk writes a chunk of a filter with these layers. refused is the reply if it does not fit; "" is
// one that says why.
func (m *Module) writeChunk(c *resp.Conn, f *engine.Filter, layers []uint64, iter int64, data []byte, refused string) {
	if !f.Incomplete() && !command.Require(c, []byte(f.Name()), access.Remove) {
		return
	}
	if f.Lost() {
		command.Fail(c, engine.ErrLost)
		return
	}
	at, problem := locate(layers, iter, data)
	if problem != "" {
		c.Error(cmp.Or(refused, problem))
		return
	}
	pos, err := m.loads.write(m.engine, f, at, data)
	if err != nil {
		problem = command.Text(err)
	}
	replyOK(c, pos, problem)
}

// loadHeader makes the filter that a header describes.
func (m *Module) loadHeader(name []byte, iter int64, header []byte) (engine.Position, string) {
	if iter != 1 {
		return 0, m.absent()
	}
	f, err := m.fromHeader(header)
	return m.putHeader(name, f, err, badData)
}

func (m *Module) fromHeader(header []byte) (f *redisbloom.Filter, err error) {
	defer m.engine.CatchFault(redisbloom.Name, &err)
	return redisbloom.FromHeader(header, m.engine.FreeMemory(wire.DefaultBytes))
}

// putHeader makes an incomplete filter of what a header describes, or returns an error reply. bad is
// that for a header that is not valid.
func (m *Module) putHeader(name []byte, f umbel.Filter, err error, bad string) (engine.Position, string) {
	switch {
	case errors.Is(err, umbel.ErrLimit):
		return 0, insufficientMemory
	case errors.Is(err, cuckoo.ErrForeign):
		return 0, foreignHeader
	case errors.Is(err, engine.ErrFault):
		return 0, command.Text(err)
	case err != nil:
		return 0, bad
	}
	_, pos, err := m.engine.Put(string(name), f, engine.PutOptions{Incomplete: true, Empty: true})
	switch {
	case errors.Is(err, engine.ErrExists):
		return pos, bad // as for a header that is sent for an existing filter
	case err != nil:
		return pos, createProblem(err)
	}
	return pos, ""
}

// chunkPlace is the position of a chunk in a filter.
type chunkPlace struct {
	layer  int
	offset uint64 // bytes, in the layer
	from   uint64 // bytes, counted over all layers
	total  uint64 // bytes of all layers
}

// locate returns the place of the chunk with this iter, or an error reply.
func locate(layers []uint64, iter int64, data []byte) (chunkPlace, string) {
	if iter < 1 || iter < int64(len(data)) {
		return chunkPlace{}, badData
	}
	start := iter - int64(len(data)) - 1
	if start < 0 {
		return chunkPlace{}, noLink
	}
	p := chunkPlace{layer: -1, from: uint64(start)}
	for i, n := range layers {
		if p.layer < 0 && p.from < p.total+n {
			p.layer, p.offset = i, p.from-p.total
		}
		p.total += n
	}
	if p.layer < 0 {
		return p, noLink
	}
	if uint64(len(data)) > layers[p.layer]-p.offset {
		return p, chunkTooBig
	}
	return p, ""
}

// layerBytes returns the sizes of the parts, each of which has one array.
func layerBytes(s umbel.State) []uint64 {
	ns := make([]uint64, len(s.Parts))
	for i, p := range s.Parts {
		ns[i] = uint64(len(p.Arrays[0].Words)) * 8
	}
	return ns
}

package redisbloom

import (
	"errors"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/access"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/permit"
	"github.com/umbel-filters/umbel/cmd/internal/refusal"
	"github.com/umbel-filters/umbel/cmd/internal/resp"
	"github.com/umbel-filters/umbel/filter/redisbloom"
	"github.com/umbel-filters/umbel/wire"
)

const (
	badData     = "ERR received bad data"
	noLink      = "ERR invalid offset - no link found"
	chunkTooBig = "ERR invalid chunk - Too big for current filter"
)

// loadChunk answers BF.LOADCHUNK: a header makes a filter, and what follows is written over
// its bytes. A filter all of whose bytes have come is as it was dumped; chunks that come
// later are written over it, as RedisBloom does it, and take the right to remove.
func (m *Module) loadChunk(c *resp.Conn, args [][]byte) {
	name, data := args[1], args[3]
	iter, ok := parseInt(args[2])
	if !ok {
		c.Error(loadNotNumeric)
		return
	}
	f := m.engine.Get(name)
	if f == nil {
		pos, problem := m.loadHeader(name, iter, data)
		done(c, pos, problem)
		return
	}
	var layers []uint64
	if problem := look(f, notFound, func(f *redisbloom.Filter) { layers = layerBytes(f.State()) }); problem != "" {
		c.Error(problem)
		return
	}
	if !f.Incomplete() && !permit.May(c, access.Remove, name) {
		c.Error(permit.NoKey)
		return
	}
	at, problem := locate(layers, iter, data)
	if problem != "" {
		c.Error(problem)
		return
	}
	pos, err := m.loads.write(m.engine, f, at, data)
	if err != nil {
		problem = refusal.Text(err)
	}
	done(c, pos, problem)
}

// loadHeader makes the filter that a header describes.
func (m *Module) loadHeader(name []byte, iter int64, header []byte) (engine.Position, string) {
	if iter != 1 {
		return 0, notFound
	}
	f, err := redisbloom.FromHeader(header, m.memoryLeft())
	switch {
	case errors.Is(err, umbel.ErrLimit):
		return 0, insufficientMemory
	case err != nil:
		return 0, badData
	}
	_, pos, err := m.engine.Put(string(name), f, false, true)
	switch {
	case errors.Is(err, engine.ErrExists):
		return pos, badData // what a header is to a filter that is there
	case err != nil:
		return pos, createProblem(err)
	}
	return pos, ""
}

// memoryLeft returns the bytes that a filter may take because a stranger says so. Where the
// node has no limit it is what containers may take.
func (m *Module) memoryLeft() uint64 {
	used, limit := m.engine.Memory()
	switch {
	case limit == 0:
		return wire.DefaultBytes
	case used >= limit:
		return 0
	}
	return limit - used
}

// place is where in a filter a chunk belongs.
type place struct {
	layer  int
	offset uint64 // bytes, in the layer
	from   uint64 // bytes, of all layers in a row
	total  uint64 // of all layers
}

// locate returns the place of a chunk that came with iter, or the reply if there is none.
func locate(layers []uint64, iter int64, data []byte) (place, string) {
	if iter < 1 || iter < int64(len(data)) {
		return place{}, badData
	}
	start := iter - int64(len(data)) - 1
	if start < 0 {
		return place{}, noLink
	}
	p := place{layer: -1, from: uint64(start)}
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

// layerBytes returns the lengths of the parts' only planes.
func layerBytes(s umbel.State) []uint64 {
	ns := make([]uint64, len(s.Parts))
	for i, p := range s.Parts {
		ns[i] = uint64(len(p.Arrays[0].Words)) * 8
	}
	return ns
}

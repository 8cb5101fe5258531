package redisbloom

import (
	"cmp"
	"slices"
	"sync"

	"github.com/umbel-filters/umbel/cmd/internal/engine"
)

// loads tracks the filters that are being loaded and the bytes that arrived since this process
// began. Chunks received by an earlier process must be sent again, because they may not have been
// durable.
type loads struct {
	mutex sync.Mutex
	here  map[*engine.Filter]*load
}

// load is one filter that is being loaded. Its mutex is held while a chunk is written, so that
// the chunk that completes the filter is written last.
type load struct {
	mutex sync.Mutex
	bytes spans
}

// write writes a chunk, and marks the filter complete if it is the last one.
func (ls *loads) write(e *engine.Engine, f *engine.Filter, at chunkPlace, data []byte) (engine.Position, error) {
	if !f.Incomplete() {
		return f.Write(at.layer, 0, at.offset, data, false)
	}
	l := ls.of(e, f)
	l.mutex.Lock()
	defer l.mutex.Unlock()
	pos, err := f.Write(at.layer, 0, at.offset, data, false)
	if err != nil {
		return pos, err
	}
	l.bytes.add(at.from, at.from+uint64(len(data)))
	if !l.bytes.cover(at.total) {
		return pos, nil
	}
	if pos, err = f.Write(at.layer, 0, at.offset, nil, true); err == nil {
		ls.end(f)
	}
	return pos, err
}

// of returns the load of f. It drops loads of deleted filters.
func (ls *loads) of(e *engine.Engine, f *engine.Filter) *load {
	ls.mutex.Lock()
	defer ls.mutex.Unlock()
	if l := ls.here[f]; l != nil {
		return l
	}
	if ls.here == nil {
		ls.here = map[*engine.Filter]*load{}
	}
	for f := range ls.here {
		if e.Get([]byte(f.Name())) != f {
			delete(ls.here, f)
		}
	}
	l := new(load)
	ls.here[f] = l
	return l
}

func (ls *loads) end(f *engine.Filter) {
	ls.mutex.Lock()
	defer ls.mutex.Unlock()
	delete(ls.here, f)
}

// spans are sorted ranges of bytes with gaps in between.
type spans [][2]uint64

// add adds a range.
func (s *spans) add(from, to uint64) {
	if from == to {
		return
	}
	i, _ := slices.BinarySearchFunc(*s, from, func(have [2]uint64, from uint64) int { return cmp.Compare(have[1], from) })
	j := i
	for ; j < len(*s) && (*s)[j][0] <= to; j++ {
		from, to = min(from, (*s)[j][0]), max(to, (*s)[j][1])
	}
	*s = slices.Replace(*s, i, j, [2]uint64{from, to})
}

// cover reports whether the ranges contain the first n bytes.
func (s spans) cover(n uint64) bool { return len(s) == 1 && s[0][0] == 0 && s[0][1] >= n }

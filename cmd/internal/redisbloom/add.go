package redisbloom

import (
	"errors"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/resp"
)

// add answers BF.ADD, calls in a row with one call of the engine.
func (m *Module) add(c *resp.Conn, calls [][][]byte) { m.addDefault(c, calls, true) }

// addMany answers BF.MADD likewise.
func (m *Module) addMany(c *resp.Conn, calls [][][]byte) { m.addDefault(c, calls, false) }

func (m *Module) addDefault(c *resp.Conn, calls [][][]byte, single bool) {
	b := batchOf(c, calls, 2)
	defer b.release()
	o := insertion{Options: m.settings.Load().reserve(), hasher: m.options.Hasher}
	m.addBatch(c, b, &o, !single && m.options.Atomic)
	b.reply(c, single)
}

// insert answers BF.INSERT.
func (m *Module) insert(c *resp.Conn, args [][]byte) {
	o, problem := insertOptions(args[2:], m.settings.Load().reserve(), m.options.Hasher)
	if problem != "" {
		c.Error(problem)
		return
	}
	if o.items += 2; o.items == len(args) {
		if _, problem := m.target(c, args[1], &o); problem != "" {
			c.Error(problem)
			return
		}
		c.Array(0)
		return
	}
	b := batchOf(c, alone(c, args), o.items)
	defer b.release()
	m.addBatch(c, b, &o, m.options.Atomic)
	b.reply(c, false)
}

// addBatch adds a batch to the filter of its key, which is made if there is none.
func (m *Module) addBatch(c *resp.Conn, b *batch, o *insertion, whole bool) {
	for range attempts {
		f, problem := m.target(c, b.calls[0][1], o)
		if problem != "" {
			b.failAll(problem)
			return
		}
		if !f.Hasher().HashesKeys() {
			b.failAll(digestsOnly)
			return
		}
		b.hash(f.Hasher())
		var deleted bool
		if whole {
			deleted = m.addWhole(c, f, b)
		} else {
			deleted = addUpTo(c, f, b, len(b.digests))
		}
		if !deleted {
			return
		}
	}
	b.failAll(notFound)
}

// addUpTo adds the items that come next, up to that one. Each that fails ends its call, and
// the next call's are tried: they may be there already. deleted tells that the filter is
// gone, and the rest is still to be added.
func addUpTo(c *resp.Conn, f *engine.Filter, b *batch, end int) (deleted bool) {
	for b.next < end {
		n, pos, err := f.Add(b.answers[b.next:end], b.digests[b.next:end])
		c.Commit(uint64(pos))
		b.taken(n)
		if err == nil {
			continue
		}
		if errors.Is(err, engine.ErrNotFound) {
			return true
		}
		b.fail(addProblem(f, err))
	}
	return false
}

// addWhole adds the calls that come next, but none of a call's items if the filter doesn't
// grow and hasn't room for all. Other clients of the module wait; one that adds by another
// protocol may take the room, and the call is then cut short as RedisBloom does it.
func (m *Module) addWhole(c *resp.Conn, f *engine.Filter, b *batch) (deleted bool) {
	m.atomic.Lock()
	defer m.atomic.Unlock()
	for b.next < len(b.digests) {
		if n, fixed := room(f); fixed && !fits(f, b.digests[b.next:b.end], n) {
			b.fail(filterFull, false)
			continue
		}
		if addUpTo(c, f, b, b.end) {
			return true
		}
	}
	return false
}

// fits reports whether no more than n distinct ones of ds aren't in the filter.
func fits(f *engine.Filter, ds []umbel.Digest, n uint64) bool {
	if uint64(len(ds)) <= n {
		return true
	}
	there := make([]bool, len(ds))
	f.Has(there, ds)
	fresh := map[umbel.Digest]struct{}{}
	for i, d := range ds {
		if !there[i] {
			fresh[d] = struct{}{}
		}
	}
	return uint64(len(fresh)) <= n
}

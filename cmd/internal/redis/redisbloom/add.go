package redisbloom

import (
	"errors"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/redis/command"
	"github.com/umbel-filters/umbel/cmd/internal/redis/cuckoo"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
)

// add implements BF.ADD for consecutive calls with one call of the engine.
func (m *Module) add(c *resp.Conn, calls [][][]byte) { m.addDefault(c, calls, true) }

// addMany implements BF.MADD in the same way.
func (m *Module) addMany(c *resp.Conn, calls [][][]byte) { m.addDefault(c, calls, false) }

func (m *Module) addDefault(c *resp.Conn, calls [][][]byte, single bool) {
	b := batchOf(c, calls, 2)
	defer b.release()
	o := insertion{Options: m.settings.Load().reserve(), hasher: m.options.Hasher}
	m.addBatch(c, b, &o, !single && m.options.Atomic)
	b.reply(c, single)
}

// insert implements BF.INSERT.
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
	b := batchOf(c, c.Single(args), o.items)
	defer b.release()
	m.addBatch(c, b, &o, m.options.Atomic)
	b.reply(c, false)
}

// addBatch adds a batch to the filter with its key, which is made if it is missing.
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
			deleted = addUpTo(c, f, b, len(b.Digests))
		}
		if !deleted {
			return
		}
	}
	b.failAll(notFound)
}

// addUpTo adds the next items up to end. An item that fails ends its call; the next call is
// tried, because its items may be present. deleted means that the filter was deleted and the rest
// must be added again.
func addUpTo(c *resp.Conn, f *engine.Filter, b *batch, end int) (deleted bool) {
	for b.next < end {
		n, pos, err := f.Add(b.Answers[b.next:end], b.Digests[b.next:end])
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

// addWhole adds the next calls, but no item of a call for which a filter that does not grow has
// no room. Other Redis clients wait meanwhile; a client of another protocol may still fill the
// filter, and the call is then cut short as in RedisBloom.
func (m *Module) addWhole(c *resp.Conn, f *engine.Filter, b *batch) (deleted bool) {
	mu := &m.atomic[f.ID()%uint64(len(m.atomic))]
	mu.Lock()
	defer mu.Unlock()
	for b.next < len(b.Digests) {
		if n, fixed := room(f); fixed && !fits(f, b.Digests[b.next:b.end], n) {
			b.fail(filterFull, false)
			continue
		}
		if addUpTo(c, f, b, b.end) {
			return true
		}
	}
	return false
}

// fits reports whether at most n distinct digests of ds are absent from the filter.
func fits(f *engine.Filter, ds []umbel.Digest, n uint64) bool {
	if uint64(len(ds)) <= n {
		return true
	}
	there := make([]bool, len(ds))
	if f.Has(there, ds) != nil {
		return false
	}
	fresh := map[umbel.Digest]struct{}{}
	for i, d := range ds {
		if !there[i] {
			fresh[d] = struct{}{}
		}
	}
	return uint64(len(fresh)) <= n
}

// exists implements BF.EXISTS for consecutive calls with one call of the engine.
func (m *Module) exists(c *resp.Conn, calls [][][]byte) { m.query(c, calls, true) }

// existMany implements BF.MEXISTS in the same way.
func (m *Module) existMany(c *resp.Conn, calls [][][]byte) { m.query(c, calls, false) }

// notFollowed is the reply to a query of a filter that is not among those of Options.Fixed. That the key is absent
// would be wrong if the client means one of them by another name.
const notFollowed = "ERR no such filter: this replica follows other names, which SCAN 0 returns"

// query answers false if there is no filter, or one that BF.* does not add to.
func (m *Module) query(c *resp.Conn, calls [][][]byte, single bool) {
	b := batchOf(c, calls, 2)
	defer b.release()
	f := m.engine.Get(calls[0][1])
	switch {
	case f == nil && m.options.Fixed:
		b.failAll(notFollowed)
	case f == nil || f.Kind() == cuckoo.Name:
		b.deny()
	case !f.Hasher().HashesKeys():
		b.failAll(digestsOnly)
	default:
		b.hash(f.Hasher())
		if err := f.Has(b.Answers, b.Digests); err != nil {
			b.failAll(command.Text(err))
		}
	}
	b.reply(c, single)
}

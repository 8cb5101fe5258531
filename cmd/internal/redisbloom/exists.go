package redisbloom

import "github.com/umbel-filters/umbel/cmd/internal/resp"

// exists implements BF.EXISTS for consecutive calls with one call of the engine.
func (m *Module) exists(c *resp.Conn, calls [][][]byte) { m.query(c, calls, true) }

// existMany implements BF.MEXISTS in the same way.
func (m *Module) existMany(c *resp.Conn, calls [][][]byte) { m.query(c, calls, false) }

// query answers false if there is no filter, or one that BF.* does not add to.
func (m *Module) query(c *resp.Conn, calls [][][]byte, single bool) {
	b := batchOf(c, calls, 2)
	defer b.release()
	f := m.engine.Get(calls[0][1])
	switch {
	case f == nil || f.Kind() == CuckooName:
		b.deny()
	case !f.Hasher().HashesKeys():
		b.failAll(digestsOnly)
	default:
		b.hash(f.Hasher())
		f.Has(b.answers, b.digests)
	}
	b.reply(c, single)
}

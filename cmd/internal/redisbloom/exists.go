package redisbloom

import "github.com/umbel-filters/umbel/cmd/internal/resp"

// exists answers BF.EXISTS, calls in a row with one call of the engine.
func (m *Module) exists(c *resp.Conn, calls [][][]byte) { m.ask(c, calls, true) }

// existMany answers BF.MEXISTS likewise.
func (m *Module) existMany(c *resp.Conn, calls [][][]byte) { m.ask(c, calls, false) }

// ask answers no where there is no filter, or one that BF.* hasn't added to.
func (m *Module) ask(c *resp.Conn, calls [][][]byte, single bool) {
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

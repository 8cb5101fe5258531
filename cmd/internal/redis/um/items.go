package um

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/node/access"
	"github.com/umbel-filters/umbel/cmd/internal/redis/command"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// items are the commands about keys of a filter.
func (u *um) items() []command.Row {
	return []command.Row{
		{Name: "um.add", Syntax: "key item [item ...]", Arity: -3, Keys: command.OneKey, Right: access.Add,
			Flags: "write denyoom fast", Categories: "fast umbel write",
			Summary: "Adds items. Replies true for each that changed the filter.", RunAll: u.add},
		{Name: "um.has", Syntax: "key item [item ...]", Arity: -3, Keys: command.OneKey, Right: access.Read,
			Flags: "readonly fast", Categories: "fast read umbel",
			Summary: "Queries items. Replies false for each that was never added.", RunAll: u.has},
		{Name: "um.remove", Syntax: "key item [item ...]", Arity: -3, Keys: command.OneKey, Right: access.Remove,
			Flags: "write fast", Categories: "fast umbel write",
			Summary: "Removes one addition of each item, which must have been added. Replies true for each that was present.", Run: u.remove},
		{Name: "um.count", Syntax: "key item [item ...]", Arity: -3, Keys: command.OneKey, Right: access.Read,
			Flags: "readonly fast", Categories: "fast read umbel",
			Summary: "Returns an upper bound of how often each item was added.", Run: u.count},
		{Name: "um.addraw", Syntax: "key digests", Arity: 3, Keys: command.OneKey, Right: access.Add,
			Flags: "write denyoom fast", Categories: "fast umbel write",
			Summary: "Adds digests of 16 bytes (H1, H2, little-endian). Returns how many changed the filter.", Run: u.addRaw},
		{Name: "um.hasraw", Syntax: "key digests", Arity: 3, Keys: command.OneKey, Right: access.Read,
			Flags: "readonly fast", Categories: "fast read umbel",
			Summary: "Queries digests of 16 bytes. Returns one bit per digest, lowest bit first.", Run: u.hasRaw},
	}
}

// batch is reusable memory for digests and answers.
type batch struct {
	digests []umbel.Digest
	answers []bool
	counts  []uint64
}

var batches = sync.Pool{New: func() any { return new(batch) }}

// maxKeptBatch is the size of the largest batch whose memory is reused.
const maxKeptBatch = 1 << 16

func (b *batch) free() {
	if cap(b.digests) <= maxKeptBatch {
		batches.Put(b)
	}
}

// errDigests is the error for keys of a filter with hash caller.
var errDigests = sentinel.Errorf(umbel.ErrGoal, "the filter has hash caller and accepts only digests; use UM.ADDRAW and UM.HASRAW")

// hash returns the digests of the items of calls, which follow the command and the name.
func hash(h umbel.Hasher, calls [][][]byte) *batch {
	b := batches.Get().(*batch)
	b.digests = b.digests[:0]
	for _, args := range calls {
		for _, item := range args[2:] {
			b.digests = append(b.digests, h.HashBytes(item))
		}
	}
	b.answers = slices.Grow(b.answers[:0], len(b.digests))[:len(b.digests)]
	return b
}

// raw decodes digests. It returns an error wrapping umbel.ErrGoal if the length is no multiple of
// 16.
func raw(data []byte) (*batch, error) {
	if len(data)%16 != 0 {
		return nil, sentinel.Errorf(umbel.ErrGoal, "digests have %d bytes, want a multiple of 16", len(data))
	}
	b := batches.Get().(*batch)
	b.digests = b.digests[:0]
	for d := range slices.Chunk(data, 16) {
		b.digests = append(b.digests, umbel.Digest{H1: binary.LittleEndian.Uint64(d), H2: binary.LittleEndian.Uint64(d[8:])})
	}
	b.answers = slices.Grow(b.answers[:0], len(b.digests))[:len(b.digests)]
	return b, nil
}

// parseItems returns the filter of calls with one name, and the digests of their items. On an error it
// replies to all calls and returns nil.
func (u *um) parseItems(c *resp.Conn, calls ...[][]byte) (*engine.Filter, *batch) {
	f := u.engine.Get(calls[0][1])
	var err error
	switch {
	case f == nil:
		err = u.missing(calls[0][1])
	case !f.Hasher().HashesKeys():
		err = errDigests
	default:
		return f, hash(f.Hasher(), calls)
	}
	for range calls {
		command.Fail(c, err)
	}
	return nil, nil
}

// parseDigests returns the filter of a call and its digests. On an error it replies and returns nil.
func (u *um) parseDigests(c *resp.Conn, args [][]byte) (*engine.Filter, *batch) {
	f := u.find(c, args[1])
	if f == nil || !command.MayCopy(c, f) {
		return nil, nil
	}
	b, err := raw(args[2])
	if err != nil {
		command.Fail(c, err)
		return nil, nil
	}
	return f, b
}

// add replies an error if no item of a call was added, otherwise a result per item: a filter that
// becomes full adds some and refuses others.
func (u *um) add(c *resp.Conn, calls [][][]byte) {
	f, b := u.parseItems(c, calls...)
	if f == nil {
		return
	}
	defer b.free()
	taken, pos, err := f.Add(b.answers, b.digests)
	c.Commit(uint64(pos))
	answers := b.answers
	for _, args := range calls {
		n := len(args) - 2
		if err != nil && taken == 0 {
			command.Fail(c, err)
			continue
		}
		c.Array(n)
		for i, changed := range answers[:n] {
			if i < taken {
				c.Bool(changed)
			} else {
				command.Fail(c, err)
			}
		}
		answers, taken = answers[n:], max(taken-n, 0)
	}
}

func (u *um) has(c *resp.Conn, calls [][][]byte) {
	f, b := u.parseItems(c, calls...)
	if f == nil {
		return
	}
	defer b.free()
	if err := f.Has(b.answers, b.digests); err != nil {
		for range calls {
			command.Fail(c, err)
		}
		return
	}
	answers := b.answers
	for _, args := range calls {
		n := len(args) - 2
		bools(c, answers[:n])
		answers = answers[n:]
	}
}

func bools(c *resp.Conn, answers []bool) {
	c.Array(len(answers))
	for _, a := range answers {
		c.Bool(a)
	}
}

func (u *um) remove(c *resp.Conn, args [][]byte) {
	f, b := u.parseItems(c, args)
	if f == nil {
		return
	}
	defer b.free()
	pos, err := f.Remove(b.answers, b.digests)
	c.Commit(uint64(pos))
	if err != nil {
		command.Fail(c, err)
		return
	}
	bools(c, b.answers)
}

func (u *um) count(c *resp.Conn, args [][]byte) {
	f, b := u.parseItems(c, args)
	if f == nil {
		return
	}
	defer b.free()
	b.counts = slices.Grow(b.counts[:0], len(b.digests))[:len(b.digests)]
	if err := f.Count(b.counts, b.digests); err != nil {
		command.Fail(c, err)
		return
	}
	c.Array(len(b.counts))
	for _, n := range b.counts {
		number(c, umbel.Uint(n))
	}
}

func (u *um) addRaw(c *resp.Conn, args [][]byte) {
	f, b := u.parseDigests(c, args)
	if f == nil {
		return
	}
	defer b.free()
	n, pos, err := f.Add(b.answers, b.digests)
	c.Commit(uint64(pos))
	if err != nil {
		command.Fail(c, fmt.Errorf("%d of %d digests were added: %w", n, len(b.digests), err))
		return
	}
	changed := 0
	for _, a := range b.answers {
		if a {
			changed++
		}
	}
	c.Int(int64(changed))
}

func (u *um) hasRaw(c *resp.Conn, args [][]byte) {
	f, b := u.parseDigests(c, args)
	if f == nil {
		return
	}
	defer b.free()
	if err := f.Has(b.answers, b.digests); err != nil {
		command.Fail(c, err)
		return
	}
	bits := make([]byte, (len(b.answers)+7)/8)
	for i, a := range b.answers {
		if a {
			bits[i/8] |= 1 << (i % 8)
		}
	}
	c.Bulk(bits)
}

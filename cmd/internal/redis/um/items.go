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

var batches = sync.Pool{New: func() any { return new(engine.Batch) }}

// maxKeptBatch is the size of the largest batch whose memory is reused.
const maxKeptBatch = 1 << 16

func free(b *engine.Batch) {
	if cap(b.Digests) <= maxKeptBatch {
		batches.Put(b)
	}
}

// errDigests is the error for keys of a filter with hash caller.
var errDigests = sentinel.Errorf(umbel.ErrGoal, "the filter has hash caller and accepts only digests; use UM.ADDRAW and UM.HASRAW")

// hash returns the digests of the items of calls, which follow the command and the name.
func hash(h umbel.Hasher, calls [][][]byte) *engine.Batch {
	b := batches.Get().(*engine.Batch)
	b.Digests = b.Digests[:0]
	for _, args := range calls {
		b.Hash(h, args[2:])
	}
	return b
}

// raw decodes digests. It returns an error wrapping umbel.ErrGoal if the length is no multiple of
// 16.
func raw(data []byte) (*engine.Batch, error) {
	if len(data)%16 != 0 {
		return nil, sentinel.Errorf(umbel.ErrGoal, "digests have %d bytes, want a multiple of 16", len(data))
	}
	b := batches.Get().(*engine.Batch)
	b.Digests = b.Digests[:0]
	for d := range slices.Chunk(data, 16) {
		b.Digests = append(b.Digests, umbel.Digest{H1: binary.LittleEndian.Uint64(d), H2: binary.LittleEndian.Uint64(d[8:])})
	}
	return b, nil
}

// parseItems returns the filter of calls with one name, and the digests of their items. On an error it
// replies to all calls and returns nil.
func (u *um) parseItems(c *resp.Conn, calls ...[][]byte) (*engine.Filter, *engine.Batch) {
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
func (u *um) parseDigests(c *resp.Conn, args [][]byte) (*engine.Filter, *engine.Batch) {
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
	defer free(b)
	pos, err := b.Add(f)
	c.Commit(uint64(pos))
	answers, taken := b.Answers, b.N
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
	defer free(b)
	if _, err := b.Has(f); err != nil {
		for range calls {
			command.Fail(c, err)
		}
		return
	}
	answers := b.Answers
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
	defer free(b)
	pos, err := b.Remove(f)
	c.Commit(uint64(pos))
	if err != nil {
		command.Fail(c, err)
		return
	}
	bools(c, b.Answers)
}

func (u *um) count(c *resp.Conn, args [][]byte) {
	f, b := u.parseItems(c, args)
	if f == nil {
		return
	}
	defer free(b)
	if _, err := b.Count(f); err != nil {
		command.Fail(c, err)
		return
	}
	c.Array(len(b.Counts))
	for _, n := range b.Counts {
		number(c, umbel.Uint(n))
	}
}

func (u *um) addRaw(c *resp.Conn, args [][]byte) {
	f, b := u.parseDigests(c, args)
	if f == nil {
		return
	}
	defer free(b)
	pos, err := b.Add(f)
	c.Commit(uint64(pos))
	if err != nil {
		command.Fail(c, fmt.Errorf("%d of %d digests were added: %w", b.N, len(b.Digests), err))
		return
	}
	changed := 0
	for _, a := range b.Answers {
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
	defer free(b)
	if _, err := b.Has(f); err != nil {
		command.Fail(c, err)
		return
	}
	bits := make([]byte, (len(b.Answers)+7)/8)
	for i, a := range b.Answers {
		if a {
			bits[i/8] |= 1 << (i % 8)
		}
	}
	c.Bulk(bits)
}

package changes

import (
	"errors"
	"maps"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/statecode"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/wire"
)

// maxOpen is the maximum number of long changes that are unfinished at one time.
const maxOpen = 1 << 16

// Reader decodes batches.
type Reader struct {
	Limits wire.Limits // for each state
	// Single is the position up to which changes are passed to Each one by one and in their order.
	// After it, additions to a filter between which nothing else was done to it are joined: they have
	// the position of the last, and changes of different filters have no order.
	Single engine.Position
	// Each is called with each change, and does not keep its memory.
	Each func(*engine.Change) error

	next    engine.Position // of the next change; 0 before the first batch
	changes uint64
	digests uint64
	open    map[uint64]*unfinished    // by filter
	gathers map[uint64]*engine.Change // additions that are still to be joined, by filter
	waiting int                       // digests in gathers
	memory  [][]umbel.Digest          // for more of them
	alone   []umbel.Digest            // of a change that is not joined
	skipped bool                      // batches are lost: changes may lack their beginning
}

// Next returns the position of the next change, 0 before the first batch.
func (r *Reader) Next() engine.Position { return r.next }

// Counts returns the number of changes and digests that were read.
func (r *Reader) Counts() (changes, digests uint64) { return r.changes, r.digests }

// Open reports whether there are changes that have no end yet.
func (r *Reader) Open() bool { return len(r.open) > 0 }

// Unfinished returns the changes that have no end yet, in the order of their filters.
func (r *Reader) Unfinished() (list []engine.Change) {
	for _, id := range slices.Sorted(maps.Keys(r.open)) {
		list = append(list, r.open[id].change)
	}
	return list
}

// Batch passes the changes that end in b to Each, but may postpone additions until Flush. The error
// wraps umbel.ErrCorrupt, with errors.ErrUnsupported for later versions, or umbel.ErrLimit, or is that
// of Each.
func (r *Reader) Batch(b []byte) error {
	c := &statecode.Cursor{Rest: b}
	version, flags := c.Byte(), c.Byte()
	if version != batchVersion || flags&^(batchSession|batchLoss) != 0 {
		if c.Err != nil {
			return c.Err
		}
		return sentinel.Errorf(umbel.ErrCorrupt, "a batch of version %d, flags %#x, needs a later version of umbel: %w",
			version, flags, errors.ErrUnsupported)
	}
	first := engine.Position(c.Uvarint())
	if c.Err == nil && first < max(r.next, 1) {
		c.Fail("a batch begins with change %d, want %d or later", first, r.next)
	}
	if c.Err != nil {
		return c.Err
	}
	if first != r.next || flags&batchSession != 0 {
		if err := r.Flush(); err != nil {
			return err
		}
	}
	r.next = first
	if flags&batchSession != 0 {
		r.open = nil
	}
	var filter uint64
	for len(c.Rest) > 0 {
		code := c.Byte()
		if code&codeSame == 0 {
			filter = c.Uvarint()
		}
		if err := r.record(c, code&^codeSame, filter); err != nil {
			return err
		}
	}
	return nil
}

// record reads one record behind its code and its filter.
func (r *Reader) record(c *statecode.Cursor, code byte, filter uint64) error {
	ch := engine.Change{Filter: filter, Op: engine.Op(code & codeMask)}
	switch {
	case code&codeLong != 0:
		r.begin(c, ch)
		return c.Err
	case code == codeAbort:
		if r.open[filter] == nil && !r.skipped {
			c.Fail("the abort of a change to filter %d that has not begun", filter)
			return c.Err
		}
		delete(r.open, filter)
		r.next++
		r.changes++
		return nil
	case code == codeHead || code == codeCells || code == codeEnd:
		l := r.open[filter]
		if l == nil && r.skipped {
			return r.skipPiece(c, code)
		}
		if l == nil {
			c.Fail("a piece of a change to filter %d that has not begun", filter)
			return c.Err
		}
		return r.piece(c, code, l)
	}
	switch ch.Op {
	case engine.OpDelete, engine.OpClear, engine.OpSeal, engine.OpFlush, engine.OpLose, engine.OpAcknowledge:
	case engine.OpMissNames:
		ch.Number, ch.Count = c.Uvarint(), c.Uvarint()
	case engine.OpExpire, engine.OpFold, engine.OpUnfold, engine.OpAdvance:
		ch.Number = c.Uvarint()
	case engine.OpRename:
		ch.Name = c.Text()
	case engine.OpWrite:
		target(c, &ch)
		ch.Number = c.Uvarint()
		ch.Last = c.Byte() != 0
		ch.Data = c.Bytes(c.Uvarint())
	case engine.OpAdd, engine.OpRemove:
		n := c.Uvarint()
		if n > MaxDigests {
			c.Fail("%d digests in one change, want at most %d", n, MaxDigests)
		}
		digests := c.Bytes(n * digestBytes)
		if c.Err != nil {
			return c.Err
		}
		return r.add(ch, digests)
	default:
		c.Fail("no change has the code %#x", code)
	}
	if c.Err != nil {
		return c.Err
	}
	return r.give(&ch)
}

// maxMemory is the number of slices of digests that are kept for reuse.
const maxMemory = 4

// maxWaiting is the maximum number of digests that are postponed: 16 MiB.
const maxWaiting = 1 << 20

// add takes additions, or removals, of one record.
func (r *Reader) add(ch engine.Change, digests []byte) error {
	n := len(digests) / digestBytes
	r.digests += uint64(n)
	if ch.Op != engine.OpAdd || r.next <= r.Single {
		r.alone = getDigests(r.alone[:0], digests)
		ch.Digests = r.alone
		return r.give(&ch)
	}
	g := r.gathers[ch.Filter]
	if g == nil {
		if r.gathers == nil {
			r.gathers = make(map[uint64]*engine.Change)
		}
		g = &ch
		if last := len(r.memory) - 1; last >= 0 {
			g.Digests, r.memory = r.memory[last], r.memory[:last]
		}
		r.gathers[ch.Filter] = g
	}
	g.Digests = getDigests(g.Digests, digests)
	g.Position = r.next
	r.waiting += n
	r.next++
	r.changes++
	switch {
	case r.waiting >= maxWaiting:
		return r.Flush()
	case len(g.Digests) >= MaxDigests:
		return r.release(g)
	}
	return nil
}

// release gives each what was gathered of one filter.
func (r *Reader) release(g *engine.Change) error {
	delete(r.gathers, g.Filter)
	r.waiting -= len(g.Digests)
	err := r.Each(g)
	if len(r.memory) < maxMemory {
		r.memory = append(r.memory, g.Digests[:0])
	}
	return err
}

// Flush passes all postponed additions to Each.
func (r *Reader) Flush() error {
	for _, id := range slices.Sorted(maps.Keys(r.gathers)) {
		if err := r.release(r.gathers[id]); err != nil {
			return err
		}
	}
	return nil
}

// before gives each what was gathered and comes before a change: what is done to one filter
// changes no other, unless names come into it.
func (r *Reader) before(ch *engine.Change) error {
	switch ch.Op {
	case engine.OpCreate, engine.OpDelete, engine.OpRename, engine.OpFlush, engine.OpMissNames, engine.OpAcknowledge:
		return r.Flush()
	}
	if g := r.gathers[ch.Filter]; g != nil {
		return r.release(g)
	}
	return nil
}

// give gives each a change.
func (r *Reader) give(ch *engine.Change) error {
	if err := r.before(ch); err != nil {
		return err
	}
	ch.Position = r.next
	r.next++
	r.changes++
	return r.Each(ch)
}

// Skip says that the batches that would come next are lost.
func (r *Reader) Skip() error {
	r.open, r.skipped = nil, true
	return r.Flush()
}

// First returns the position of the first change of a batch, 0 for a batch of another version.
func First(b []byte) (engine.Position, error) {
	if len(b) > 0 && b[0] != batchVersion {
		return 0, nil
	}
	c := &statecode.Cursor{Rest: b}
	c.Bytes(2)
	return engine.Position(c.Uvarint()), c.Err
}

package changes

import (
	"fmt"

	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/cmd/internal/durable/statecode"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/wire"
)

// unfinished is a long change without its end.
type unfinished struct {
	change engine.Change
	head   []byte
	length uint64 // of the whole head
	arrays []cells.Array
}

// target reads which plane is written to.
func target(c *statecode.Cursor, ch *engine.Change) {
	part := c.Uvarint()
	ch.Part = int(part>>1) ^ -int(part&1)
	ch.Array = int(c.Uvarint())
	if ch.Part < -1 || ch.Part > 1<<16 || ch.Array < 0 || ch.Array > 1<<8 {
		c.Fail("a write to plane %d of part %d", ch.Array, ch.Part)
	}
}

// begin reads the beginning of a long change.
func (r *Reader) begin(c *statecode.Cursor, ch engine.Change) {
	switch ch.Op {
	case engine.OpCreate, engine.OpReplace, engine.OpRename, engine.OpWrite:
	default:
		c.Fail("no long change has the code %#x", ch.Op)
	}
	ch.Number = c.Uvarint()
	target(c, &ch)
	ch.Last = c.Byte() != 0
	l := &unfinished{change: ch, length: c.Uvarint()}
	switch {
	case c.Err != nil:
	case r.open[ch.Filter] != nil:
		c.Fail("a change to filter %d begins within another", ch.Filter)
	case len(r.open) >= maxOpen:
		c.Fail("%d changes are under way at once", len(r.open))
	case l.length == 0 && l.stateful():
		c.Fail("filter %d has no shape", ch.Filter)
	case r.open == nil:
		r.open = map[uint64]*unfinished{ch.Filter: l}
	default:
		r.open[ch.Filter] = l
	}
}

// stateful reports whether the change is a whole state.
func (u *unfinished) stateful() bool {
	return u.change.Op == engine.OpCreate || u.change.Op == engine.OpReplace
}

// piece reads a piece of a long change, or its end.
func (r *Reader) piece(c *statecode.Cursor, code byte, l *unfinished) error {
	switch code {
	case codeHead:
		piece := c.Bytes(c.Uvarint())
		if c.Err == nil && uint64(len(piece)) > l.length-uint64(len(l.head)) {
			c.Fail("a head of %d bytes has more", l.length)
		}
		if c.Err != nil {
			return c.Err
		}
		l.head = append(l.head, piece...)
		if uint64(len(l.head)) == l.length && l.stateful() {
			return l.shape(r.Limits)
		}
		return nil
	case codeCells:
		plane, offset := c.Uvarint(), c.Uvarint()
		b := c.Bytes(c.Uvarint())
		if c.Err == nil {
			l.cells(c, plane, offset, b)
		}
		return c.Err
	}
	if uint64(len(l.head)) != l.length || l.stateful() && l.change.State == nil {
		c.Fail("a change to filter %d ends before its head", l.change.Filter)
		return c.Err
	}
	switch l.change.Op {
	case engine.OpWrite:
		l.change.Data = l.head
	case engine.OpRename:
		l.change.Name = string(l.head)
	}
	delete(r.open, l.change.Filter)
	return r.give(&l.change)
}

// shape reads the head of a whole state and makes its arrays.
func (u *unfinished) shape(l wire.Limits) error {
	c := &statecode.Cursor{Rest: u.head}
	if u.change.Op == engine.OpCreate {
		u.change.Name = c.Text()
	}
	s, err := statecode.Read(c, l)
	if err == nil {
		err = c.End()
	}
	if err == nil {
		err = statecode.Materialise(&s)
	}
	if err != nil {
		return fmt.Errorf("the shape of filter %d: %w", u.change.Filter, err)
	}
	u.change.State, u.arrays = &s, s.AllArrays()
	return nil
}

// cells puts words to their place.
func (u *unfinished) cells(c *statecode.Cursor, plane, offset uint64, b []byte) {
	if plane >= uint64(len(u.arrays)) {
		c.Fail("cells of plane %d of %d", plane, len(u.arrays))
		return
	}
	words := u.arrays[plane].Words
	if offset%8 != 0 || len(b)%8 != 0 || offset/8 > uint64(len(words)) || uint64(len(b)/8) > uint64(len(words))-offset/8 {
		c.Fail("%d bytes of cells at %d of %d", len(b), offset, len(words)*8)
		return
	}
	statecode.Words(words[offset/8:][:len(b)/8], b)
}

// skipPiece reads over a piece of a long change whose beginning is lost, or its end.
func (r *Reader) skipPiece(c *statecode.Cursor, code byte) error {
	switch code {
	case codeCells:
		c.Uvarint()
		c.Uvarint()
		fallthrough
	case codeHead:
		c.Bytes(c.Uvarint())
	default: // codeEnd
		r.next++
		r.changes++
	}
	return c.Err
}

package store

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/wire"
)

// maxOpen is how many long changes may be under way at once in a log.
const maxOpen = 1 << 16

// replay turns batches back to changes.
type replay struct {
	limits wire.Limits // for each state
	// single is the position up to which each change comes by itself and in its turn. Behind
	// it, additions to a filter between which nothing else was done to it come as one, which
	// has the position of the last; what is done to filters one by one has no order.
	single engine.Position
	each   func(*engine.Change) error

	next    engine.Position // of the next change; 0 before the first batch
	changes uint64
	digests uint64
	open    map[uint64]*openRow       // by filter
	gathers map[uint64]*engine.Change // additions that were not given to each yet, by filter
	waiting int                       // digests in gathers
	memory  [][]umbel.Digest          // for more of them
	alone   []umbel.Digest            // of a change that comes by itself
	skipped bool                      // batches are lost: rows may lack their beginning
}

// openRow is a long change as far as it has come.
type openRow struct {
	change engine.Change
	head   []byte
	length uint64 // of the whole head
	planes []*cells.Array
}

// batch gives each the changes that end in b. The error wraps umbel.ErrCorrupt, with
// errors.ErrUnsupported for later versions, umbel.ErrLimit, or what each returned.
func (r *replay) batch(b []byte) error {
	c := &cursor{b: b}
	version, flags := c.byte(), c.byte()
	if version != batchVersion || flags&^batchSession != 0 {
		if c.err != nil {
			return c.err
		}
		return fmt.Errorf("store: a batch of version %d, flags %#x, needs a later version of umbel: %w: %w",
			version, flags, errors.ErrUnsupported, umbel.ErrCorrupt)
	}
	first := engine.Position(c.uvarint())
	if c.err == nil && first < max(r.next, 1) {
		c.fail("a batch begins with change %d, want %d or later", first, r.next)
	}
	if c.err != nil {
		return c.err
	}
	if first != r.next || flags&batchSession != 0 {
		if err := r.flush(); err != nil {
			return err
		}
	}
	r.next = first
	if flags&batchSession != 0 {
		r.open = nil
	}
	var filter uint64
	for len(c.b) > 0 {
		code := c.byte()
		if code&codeSame == 0 {
			filter = c.uvarint()
		}
		if err := r.record(c, code&^codeSame, filter); err != nil {
			return err
		}
	}
	return nil
}

// record reads one record behind its code and its filter.
func (r *replay) record(c *cursor, code byte, filter uint64) error {
	ch := engine.Change{Filter: filter, Op: engine.Op(code & codeMask)}
	switch {
	case code&codeLong != 0:
		r.begin(c, ch)
		return c.err
	case code == codeAbort:
		if r.open[filter] == nil && !r.skipped {
			c.fail("the abort of a change to filter %d that has not begun", filter)
			return c.err
		}
		delete(r.open, filter)
		r.next++
		r.changes++
		return nil
	case code == codeHead || code == codeCells || code == codeEnd:
		row := r.open[filter]
		if row == nil && r.skipped {
			return skipPiece(c, code)
		}
		if row == nil {
			c.fail("a piece of a change to filter %d that has not begun", filter)
			return c.err
		}
		return r.piece(c, code, row)
	}
	switch ch.Op {
	case engine.OpDelete, engine.OpClear, engine.OpSeal, engine.OpFlush:
	case engine.OpExpire, engine.OpFold, engine.OpUnfold, engine.OpAdvance:
		ch.Number = c.uvarint()
	case engine.OpRename:
		ch.Name = c.text()
	case engine.OpWrite:
		target(c, &ch)
		ch.Number = c.uvarint()
		ch.Last = c.byte() != 0
		ch.Data = c.bytes(c.uvarint())
	case engine.OpAdd, engine.OpRemove:
		n := c.uvarint()
		if n > maxDigests {
			c.fail("%d digests in one change, want at most %d", n, maxDigests)
		}
		digests := c.bytes(n * digestBytes)
		if c.err != nil {
			return c.err
		}
		return r.add(ch, digests)
	default:
		c.fail("no change has the code %#x", code)
	}
	if c.err != nil {
		return c.err
	}
	return r.give(&ch)
}

// target reads which plane is written to.
func target(c *cursor, ch *engine.Change) {
	part := c.uvarint()
	ch.Part = int(part>>1) ^ -int(part&1)
	ch.Array = int(c.uvarint())
	if ch.Part < -1 || ch.Part > 1<<16 || ch.Array < 0 || ch.Array > 1<<8 {
		c.fail("a write to plane %d of part %d", ch.Array, ch.Part)
	}
}

// begin reads the beginning of a long change.
func (r *replay) begin(c *cursor, ch engine.Change) {
	switch ch.Op {
	case engine.OpCreate, engine.OpReplace, engine.OpRename, engine.OpWrite:
	default:
		c.fail("no long change has the code %#x", ch.Op)
	}
	ch.Number = c.uvarint()
	target(c, &ch)
	ch.Last = c.byte() != 0
	row := &openRow{change: ch, length: c.uvarint()}
	switch {
	case c.err != nil:
	case r.open[ch.Filter] != nil:
		c.fail("a change to filter %d begins within another", ch.Filter)
	case len(r.open) >= maxOpen:
		c.fail("%d changes are under way at once", len(r.open))
	case row.length == 0 && row.stateful():
		c.fail("filter %d has no shape", ch.Filter)
	case r.open == nil:
		r.open = map[uint64]*openRow{ch.Filter: row}
	default:
		r.open[ch.Filter] = row
	}
}

// stateful reports whether the change is a whole state.
func (o *openRow) stateful() bool {
	return o.change.Op == engine.OpCreate || o.change.Op == engine.OpReplace
}

// piece reads a piece of a long change, or its end.
func (r *replay) piece(c *cursor, code byte, row *openRow) error {
	switch code {
	case codeHead:
		piece := c.bytes(c.uvarint())
		if c.err == nil && uint64(len(piece)) > row.length-uint64(len(row.head)) {
			c.fail("a head of %d bytes has more", row.length)
		}
		if c.err != nil {
			return c.err
		}
		row.head = append(row.head, piece...)
		if uint64(len(row.head)) == row.length && row.stateful() {
			return row.shape(r.limits)
		}
		return nil
	case codeCells:
		plane, offset := c.uvarint(), c.uvarint()
		b := c.bytes(c.uvarint())
		if c.err == nil {
			row.cells(c, plane, offset, b)
		}
		return c.err
	}
	if uint64(len(row.head)) != row.length || row.stateful() && row.change.State == nil {
		c.fail("a change to filter %d ends before its head", row.change.Filter)
		return c.err
	}
	switch row.change.Op {
	case engine.OpWrite:
		row.change.Data = row.head
	case engine.OpRename:
		row.change.Name = string(row.head)
	}
	delete(r.open, row.change.Filter)
	return r.give(&row.change)
}

// shape reads the head of a whole state, and makes its planes.
func (o *openRow) shape(l wire.Limits) error {
	c := &cursor{b: o.head}
	if o.change.Op == engine.OpCreate {
		o.change.Name = c.text()
	}
	s, err := readShape(c, l)
	if err == nil {
		err = c.end()
	}
	if err == nil {
		err = materialise(&s)
	}
	if err != nil {
		return fmt.Errorf("the shape of filter %d: %w", o.change.Filter, err)
	}
	o.change.State = &s
	for _, p := range planes(o.change.State) {
		o.planes = append(o.planes, p)
	}
	return nil
}

// cells puts words to their place.
func (o *openRow) cells(c *cursor, plane, offset uint64, b []byte) {
	if plane >= uint64(len(o.planes)) {
		c.fail("cells of plane %d of %d", plane, len(o.planes))
		return
	}
	words := o.planes[plane].Words
	if offset%8 != 0 || len(b)%8 != 0 || offset/8 > uint64(len(words)) || uint64(len(b)/8) > uint64(len(words))-offset/8 {
		c.fail("%d bytes of cells at %d of %d", len(b), offset, len(words)*8)
		return
	}
	getWords(words[offset/8:][:len(b)/8], b)
}

// maxWaiting is how many digests are gathered: 16 MiB.
const maxWaiting = 1 << 20

// add takes additions, or removals, of one record.
func (r *replay) add(ch engine.Change, digests []byte) error {
	n := len(digests) / digestBytes
	r.digests += uint64(n)
	if ch.Op != engine.OpAdd || r.next <= r.single {
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
		return r.flush()
	case len(g.Digests) >= maxDigests:
		return r.release(g)
	}
	return nil
}

// release gives each what was gathered of one filter.
func (r *replay) release(g *engine.Change) error {
	delete(r.gathers, g.Filter)
	r.waiting -= len(g.Digests)
	err := r.each(g)
	if len(r.memory) < maxSpare {
		r.memory = append(r.memory, g.Digests[:0])
	}
	return err
}

// flush gives each what was gathered.
func (r *replay) flush() error {
	for _, id := range slices.Sorted(maps.Keys(r.gathers)) {
		if err := r.release(r.gathers[id]); err != nil {
			return err
		}
	}
	return nil
}

// before gives each what was gathered and comes before a change: what is done to one filter
// changes no other, unless names come into it.
func (r *replay) before(ch *engine.Change) error {
	switch ch.Op {
	case engine.OpCreate, engine.OpDelete, engine.OpRename, engine.OpFlush:
		return r.flush()
	}
	if g := r.gathers[ch.Filter]; g != nil {
		return r.release(g)
	}
	return nil
}

// give gives each a change.
func (r *replay) give(ch *engine.Change) error {
	if err := r.before(ch); err != nil {
		return err
	}
	ch.Position = r.next
	r.next++
	r.changes++
	return r.each(ch)
}

// skip says that what would come next is lost.
func (r *replay) skip() error {
	r.open, r.skipped = nil, true
	return r.flush()
}

// skipPiece reads over a piece of a row.
func skipPiece(c *cursor, code byte) error {
	switch code {
	case codeCells:
		c.uvarint()
		c.uvarint()
		fallthrough
	case codeHead:
		c.bytes(c.uvarint())
	}
	return c.err
}

// batchBegins returns the position with which a batch begins, 0 for one of another version.
func batchBegins(b []byte) (engine.Position, error) {
	if len(b) > 0 && b[0] != batchVersion {
		return 0, nil
	}
	c := &cursor{b: b}
	c.bytes(2)
	return engine.Position(c.uvarint()), c.err
}

package changes

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/statecode"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// The scope of a batch says which filters it changes, and contains what it does to names. The log stores it apart
// from the batch, so that the loss of the batch affects only these filters, and no names are missing:
//
//	scope   version 1 | flags 1 | position of the first change that ends in the batch | number of these changes
//	        | number of acts | acts | number of filters | filters, each as the difference from the one before
//	act     code 1 | filter | position of the change - position of the first | what the code says:
//	        OpDelete, OpFlush: nothing
//	        OpExpire: number
//	        OpMissNames: number | count
//	        OpRename: length, name
//	        OpCreate: length, name | length, kind; in each batch that has a part of the change
//
// Acts are in the order of the changes. Filters are all that the batch has records of, in ascending order.
const scopeVersion = 1

const (
	// maxConcerned is the maximum number of filters of a scope, and maxActs that of the bytes of its acts. A batch
	// that concerns more has no scope.
	maxConcerned = 8 << 10
	maxActs      = 128 << 10
)

// concern collects the scope of a batch.
type concern struct {
	acts    []byte
	count   int      // of acts
	filters []uint64 // with repetitions
	made    uint64   // filter of the last OpCreate among the acts
	vague   bool     // the batch has no scope
}

// reset makes c empty, and keeps its memory.
func (c *concern) reset() { *c = concern{acts: c.acts[:0], filters: c.filters[:0]} }

// filter notes that the batch has a record of a filter.
func (c *concern) filter(id uint64) {
	if id == 0 || c.vague {
		return
	}
	if len(c.filters) == maxConcerned {
		c.compact()
		if len(c.filters) > maxConcerned/2 {
			c.vague = true
			return
		}
	}
	c.filters = append(c.filters, id)
}

// compact sorts the filters and removes repetitions.
func (c *concern) compact() {
	slices.Sort(c.filters)
	c.filters = slices.Compact(c.filters)
}

// act notes a change of names, or of an expiry, that ends offset changes after the first one.
func (c *concern) act(ch *engine.Change, offset engine.Position) {
	if c.vague = c.vague || len(c.acts)+len(ch.Name)+maxFixed > maxActs; c.vague {
		return
	}
	b := binary.AppendUvarint(append(c.acts, byte(ch.Op)), ch.Filter)
	b = binary.AppendUvarint(b, uint64(offset))
	switch ch.Op {
	case engine.OpExpire:
		b = binary.AppendUvarint(b, ch.Number)
	case engine.OpMissNames:
		b = binary.AppendUvarint(binary.AppendUvarint(b, ch.Number), ch.Count)
	case engine.OpRename:
		b = statecode.AppendText(b, ch.Name)
	case engine.OpCreate:
		b = statecode.AppendText(statecode.AppendText(b, ch.Name), ch.State.Kind)
		c.made = ch.Filter
	}
	c.acts = b
	c.count++
}

// begin notes the beginning of a long change. A name that is so long that its change is long has no scope.
func (c *concern) begin(ch *engine.Change, offset engine.Position) {
	switch ch.Op {
	case engine.OpCreate:
		c.act(ch, offset)
	case engine.OpRename:
		c.vague = true
	}
}

// create notes a later part of the creation of a filter.
func (c *concern) create(ch *engine.Change, offset engine.Position) {
	if ch.Op == engine.OpCreate && c.made != ch.Filter {
		c.act(ch, offset)
	}
}

// AppendScope appends the scope of the batch to dst. It returns dst unchanged if the batch has no scope,
// because it has too many filters and names.
func (b *Batch) AppendScope(dst []byte) []byte {
	c := &b.concern
	if c.vague {
		return dst
	}
	c.compact()
	dst = append(dst, scopeVersion, b.Bytes[1]&batchSession)
	dst = binary.AppendUvarint(dst, uint64(b.First))
	dst = binary.AppendUvarint(dst, uint64(b.Last+1-b.First))
	dst = binary.AppendUvarint(dst, uint64(c.count))
	dst = append(dst, c.acts...)
	dst = binary.AppendUvarint(dst, uint64(len(c.filters)))
	before := uint64(0)
	for _, id := range c.filters {
		dst = binary.AppendUvarint(dst, id-before)
		before = id
	}
	return dst
}

// Act is a change of names, or of an expiry, in a scope.
type Act struct {
	engine.Change        // OpCreate has no state
	Kind          string // of OpCreate
}

// Scope is what a batch concerns.
type Scope struct {
	First   engine.Position // of the first change that ends in the batch
	Changes uint64          // number of changes that end in it
	Acts    []Act
	Filters []uint64 // of which the batch has records

	session bool
}

// Last returns the position of the last change that ends in the batch.
func (s *Scope) Last() engine.Position { return s.First + engine.Position(s.Changes) - 1 }

// ReadScope reads a scope. The error wraps umbel.ErrCorrupt, with errors.ErrUnsupported for later versions.
func ReadScope(b []byte) (*Scope, error) {
	c := &statecode.Cursor{Rest: b}
	version, flags := c.Byte(), c.Byte()
	if c.Err == nil && (version != scopeVersion || flags&^batchSession != 0) {
		return nil, sentinel.Errorf(umbel.ErrCorrupt, "a scope of version %d, flags %#x, needs a later version of umbel: %w", version, flags, errors.ErrUnsupported)
	}
	s := &Scope{session: flags&batchSession != 0, First: engine.Position(c.Uvarint()), Changes: c.Uvarint()}
	for range c.Uvarint() {
		s.Acts = append(s.Acts, readAct(c, s.First))
		if c.Err != nil {
			return nil, c.Err
		}
	}
	id := uint64(0)
	for range c.Uvarint() {
		id += c.Uvarint()
		if c.Err != nil {
			return nil, c.Err
		}
		s.Filters = append(s.Filters, id)
	}
	return s, c.End()
}

// readAct reads an act of a scope.
func readAct(c *statecode.Cursor, first engine.Position) (a Act) {
	a.Op, a.Filter, a.Position = engine.Op(c.Byte()), c.Uvarint(), first+engine.Position(c.Uvarint())
	switch a.Op {
	case engine.OpDelete, engine.OpFlush:
	case engine.OpExpire:
		a.Number = c.Uvarint()
	case engine.OpMissNames:
		a.Number, a.Count = c.Uvarint(), c.Uvarint()
	case engine.OpRename:
		a.Name = c.Text()
	case engine.OpCreate:
		a.Name, a.Kind = c.Text(), c.Text()
	default:
		c.Fail("no act has the code %#x", a.Op)
	}
	return a
}

// Jump goes on after a batch that is lost and has this scope. It returns the creations that began before it and of
// which the batch has a part.
func (r *Reader) Jump(s *Scope) (unfinished []Act, err error) {
	if err := r.Flush(); err != nil {
		return nil, err
	}
	if s.session {
		r.open = nil
	}
	for _, id := range s.Filters {
		if l := r.open[id]; l != nil && l.change.Op == engine.OpCreate && l.change.State != nil {
			made := engine.Change{Op: engine.OpCreate, Filter: id, Position: s.Last(), Name: l.change.Name}
			unfinished = append(unfinished, Act{made, l.change.State.Kind})
		}
		delete(r.open, id)
	}
	r.skipped, r.next = true, s.Last()+1
	return unfinished, nil
}

package engine

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/statecode"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// PutOptions configure Put.
type PutOptions struct {
	Replace    bool  // a filter with the name, if there is one; otherwise Put returns ErrExists
	Incomplete bool  // parts of the filter will be written later: see Filter.Write
	Empty      bool  // no cell is set; the cells are neither read nor written to the journal
	Expires    int64 // as for Expire. If the time has passed, the filter is never found
	// Hold has memory that is reserved for f. Put takes it over, without a moment in which another client could reserve
	// it, and reserves what is missing. What Put does not need, and all of it after an error, stays in Hold. It may be nil.
	Hold *Reservation
}

// Put stores f under a name. The engine owns f afterwards, also after an error. It returns ErrExists
// if the name is taken and may not be replaced, ErrNamesMissing as described in MissingNames, ErrMemory
// if there is not enough memory for f in addition to the filter that it replaces, and ErrDisk if the filters
// could not be kept.
//
// A large filter is written to the journal before the name is looked at, and without locks.
func (e *Engine) Put(name string, f umbel.Filter, o PutOptions) (*Filter, Position, error) {
	if err := e.checkWritable(); err != nil {
		return nil, 0, err
	}
	if err := checkName(name); err != nil {
		return nil, 0, err
	}
	if o.Expires < 0 {
		o.Expires = 1 // long ago
	}
	old := e.lookup(name)
	if old != nil && !o.Replace {
		return nil, e.lastOf(old), ErrExists
	}
	if _, err := e.checkNew(old, o); err != nil {
		return nil, 0, err
	}
	s := f.State()
	g, err := e.newFilter(0, name, f, s)
	if err != nil {
		return nil, 0, err
	}
	n := footprint(name, arrayBytesOf(f, s))
	if err := e.reservePut(n, old, o.Hold); err != nil {
		return nil, 0, e.noteRefused(name, err)
	}
	g.bytes.Store(n)
	g.set(flagIncomplete, o.Incomplete)
	g.storeExpires(o.Expires)
	if o.Empty {
		s = statecode.WithoutWords(s)
	}
	w, err := e.begin(g, Change{Op: OpCreate, Name: name, Number: createNumber(o), State: &s})
	if err != nil {
		o.Hold.giveBack(e, n)
		return nil, 0, err
	}
	pos, err := e.putQueued(g, w, o)
	if err != nil {
		w.abort()
		o.Hold.giveBack(e, n)
		return nil, pos, err
	}
	return g, pos, nil
}

// reservePut reserves memory, beginning with that of hold, for a filter that takes the place of old, or of none. Both
// are in memory for a time, but only one of them is kept. The error wraps ErrMemory or ErrDisk.
func (e *Engine) reservePut(n uint64, old *Filter, hold *Reservation) error {
	if err := hold.handOver(e, n); err != nil {
		return err
	}
	var err error
	if old == nil {
		err = e.admit(0)
	} else if replaced := old.Bytes(); replaced < n {
		err = e.admit(-replaced) // n is more
	}
	if err != nil {
		hold.giveBack(e, n)
	}
	return err
}

// putQueued adds a filter to the directory.
func (e *Engine) putQueued(g *Filter, w write, o PutOptions) (Position, error) {
	e.directory.Lock()
	defer e.directory.Unlock()
	old := e.names.find(g.Name())
	if old != nil && !old.isExpired() && !o.Replace {
		return e.lastOf(old), ErrExists
	}
	lost, err := e.checkNew(old, o)
	if err != nil {
		return 0, err
	}
	if old != nil {
		old.retire(nil)
	}
	if w.long == nil {
		g.id = e.newID()
	}
	if lost { // w is short, because g is empty
		g.setLost()
		w.change.Last = true
	}
	pos := g.appendWrite(w)
	storeMax(&e.last, uint64(pos))
	e.addToIndex(g)
	return pos, nil
}

// checkName returns an error that wraps umbel.ErrLimit for a name that is too long.
func checkName(name string) error {
	if len(name) > MaxName {
		return sentinel.Errorf(umbel.ErrLimit, "name of %d bytes, want at most %d", len(name), MaxName)
	}
	return nil
}

// newID returns an ID that no filter ever had. Each ID costs a position of the journal, so the last
// position, which survives restarts, is at least as high as every ID.
func (e *Engine) newID() uint64 {
	for {
		last := e.lastID.Load()
		id := max(last, uint64(e.lastPosition())) + 1
		if e.lastID.CompareAndSwap(last, id) {
			return id
		}
	}
}

// createNumber returns the number of an OpCreate: bit 0 is set if the filter is incomplete, and the
// other bits are its expiry.
func createNumber(o PutOptions) uint64 {
	n := uint64(o.Expires) << 1
	if o.Incomplete {
		n |= 1
	}
	return n
}

// Copy makes a second filter with the current contents and expiry. It returns the error of CheckAbsent if there
// is no first filter, ErrExists if the second name is taken and replace is false, and the error of
// CheckComplete if the first filter is incomplete. The copy is made before the second name is looked at.
func (e *Engine) Copy(from, to []byte, replace bool) (Position, error) {
	if err := e.checkWritable(); err != nil {
		return 0, err
	}
	f := e.Get(from)
	if f == nil {
		return Position(e.last.Load()), e.CheckAbsent()
	}
	old := e.Get(to)
	switch {
	case old != nil && !replace:
		return e.lastOf(old), ErrExists
	case old == f:
		return e.lastOf(f), sentinel.Errorf(umbel.ErrMismatch, "source and target of the copy are the same filter")
	}
	if err := f.CheckComplete(); err != nil {
		return 0, err
	}
	hold := e.NewReservation()
	defer hold.Release()
	g, err := f.Copy(hold)
	if err != nil {
		return 0, e.noteRefused(string(to), err)
	}
	_, pos, err := e.Put(string(to), g, PutOptions{Replace: replace, Expires: f.Expires(), Hold: hold})
	// The copied changes may not be durable yet.
	return max(pos, f.position()), err
}

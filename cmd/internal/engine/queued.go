package engine

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/statecode"
)

// write is a change on its way to the journal: a long one that was queued, or a short one that is
// still to be queued.
type write struct {
	change Change
	long   LongChange // nil if the change is short or there is no journal
}

// begin queues a change of f if its state is large. A filter without an ID gets one. begin may wait,
// and is called without locks.
func (e *Engine) begin(f *Filter, c Change) (write, error) {
	w := write{change: c}
	if e.journal == nil || c.State == nil || wordBytes(*c.State) < e.longBytes {
		return w, nil
	}
	if f.id == 0 {
		f.id = e.newID()
	}
	c.Filter = f.id
	var err error
	if w.long, err = e.journal.Begin(c); err != nil {
		return w, readOnly(err)
	}
	return w, nil
}

// wordBytes returns the size of the cells of a state, 0 for arrays without words.
func wordBytes(s umbel.State) uint64 {
	n := uint64(0)
	for _, a := range statecode.ArraysOf(s) {
		n += 8 * uint64(len(a.Words))
	}
	return n
}

// abort discards a change.
func (w write) abort() {
	if w.long != nil {
		w.long.Abort()
	}
}

// appendWrite makes a change. It does not wait. The caller holds f.changes, or is the only one that
// has f.
func (f *Filter) appendWrite(w write) Position {
	if w.long == nil {
		return f.appendChange(w.change)
	}
	pos := w.long.End()
	storeMax(&f.last, uint64(pos))
	return pos
}

package engine

import "sync/atomic"

// extra contains what few filters have. A filter gets it when it is needed.
type extra struct {
	expires  atomic.Int64
	measured atomic.Pointer[measure]
	removed  atomic.Uint64 // digests
	waiting  atomic.Int64  // changes that wait in lock or share
	blocked  atomic.Bool   // busy() != nil; written with changes held
	check    func() error  // of a followed filter: see Follow; never written later

	// The following are read and written with Filter.changes held.

	readers   int           // that make changes wait
	frozen    chan struct{} // not nil while there are readers; closed afterwards
	replacing chan struct{} // not nil while a change is computed aside; closed afterwards
	recorders []*recorder   // of copies that are being made
	estimated uint64        // bytes reserved by estimates since the last recount
	replay    *replay       // not nil during the replay of a journal
}

// noExtra is the extra of filters that have none. It is never written.
var noExtra extra

// extra returns the filter's extra for reading.
func (f *Filter) extra() *extra {
	if x := f.extras.Load(); x != nil {
		return x
	}
	return &noExtra
}

// ownExtra returns the filter's extra for writing.
func (f *Filter) ownExtra() *extra {
	if f.extras.Load() == nil {
		f.extras.CompareAndSwap(nil, new(extra))
	}
	return f.extras.Load()
}

// storeExpires sets the time at which the filter is deleted; 0 means never.
func (f *Filter) storeExpires(at int64) {
	if at != f.extra().expires.Load() {
		f.ownExtra().expires.Store(at)
	}
}

// storeMeasure stores a measurement, or nil.
func (f *Filter) storeMeasure(m *measure) {
	if m != f.extra().measured.Load() {
		f.ownExtra().measured.Store(m)
	}
}

// endReplay frees what was needed for the replay of a journal. There are no other changes meanwhile.
func (f *Filter) endReplay() {
	x := f.ownExtra()
	x.replay = nil
	if x.expires.Load() == 0 && x.removed.Load() == 0 && x.waiting.Load() == 0 && x.busy() == nil && x.recorders == nil && x.estimated == 0 {
		f.extras.Store(nil)
	}
}

// busy returns the channel to wait for before the cells may change, nil if they may.
func (x *extra) busy() chan struct{} {
	if x.replacing != nil {
		return x.replacing
	}
	return x.frozen
}

// The word Filter.flags contains flags, the addMode, and the number of concurrent additions that run.
const (
	flagIncomplete = 1 << iota // cells are missing
	flagLost                   // data was lost; set only if flagIncomplete is
	flagRetired                // the filter was deleted; written with changes held
	flagFollowed               // extra.check is set; never written later
	flagOverfull               // see Filter.Overfull
	flagPaced                  // the filter is in Engine.paces; written with Engine.index held
	flagFaulty                 // the filter is in Engine.faulty, unless it was deleted
	oneMode
	oneAdd   = 1 << 10
	modeMask = oneAdd - oneMode
)

// is reports whether a flag is set.
func (f *Filter) is(flag uint32) bool { return f.flags.Load()&flag != 0 }

// set sets or clears a flag.
func (f *Filter) set(flag uint32, on bool) {
	if on {
		f.flags.Or(flag)
	} else {
		f.flags.And(^flag)
	}
}

// mode returns the way in which keys are added. It is stable while changes or cells are held.
func (f *Filter) mode() addMode { return addMode(f.flags.Load() & modeMask / oneMode) }

// setMode sets the way in which keys are added. The caller holds changes and cells.
func (f *Filter) setMode(m addMode) {
	f.flags.And(^uint32(modeMask))
	f.flags.Or(uint32(m) * oneMode)
}

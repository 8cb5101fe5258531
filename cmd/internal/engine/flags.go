package engine

// The word Filter.flags contains flags, the addMode, and the number of concurrent additions that run.
const (
	flagIncomplete = 1 << iota // cells are missing
	flagRetired                // the filter was deleted; written with changes held
	oneMode
	oneAdd   = 1 << 8
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

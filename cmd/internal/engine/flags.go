package engine

// The flags of a filter are the bits of Filter.flags. The bits from modeShift on are its addMode.
const (
	flagIncomplete = 1 << iota // cells are missing
	flagRetired                // the filter was deleted; written with changes held
	modeShift      = iota
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
func (f *Filter) mode() addMode { return addMode(f.flags.Load() >> modeShift) }

// setMode sets the way in which keys are added. The caller holds changes and cells.
func (f *Filter) setMode(m addMode) {
	f.flags.And(1<<modeShift - 1)
	f.flags.Or(uint32(m) << modeShift)
}

package engine

import "github.com/umbel-filters/umbel"

// Planned returns what the filter was made for, zero if that is unknown. It waits as long as a query.
func (f *Filter) Planned() umbel.Planned {
	p, _ := f.readPlanned() // after a fault it is unknown
	return p
}

func (f *Filter) readPlanned() (planned umbel.Planned, err error) {
	defer f.CatchFault(&err)
	f.cells.RLock()
	defer f.cells.RUnlock()
	if p, ok := f.filter.(umbel.Planner); ok {
		planned = p.Planned()
	}
	return planned, nil
}

// Overfull reports whether the last measurement of the filter found more than umbel.OverfullFactor times the
// rate that it was made for. An incomplete filter is not overfull: its rate has another reason.
func (f *Filter) Overfull() bool { return f.is(flagOverfull) }

// FindOverfull is Overfull after a measurement, if the filter has at most 64 MiB and more than 1 % of its keys changed
// since the last one. That is cheap after each batch of additions.
func (f *Filter) FindOverfull() bool {
	if f.Bytes() <= describedBytes && f.Planned() != (umbel.Planned{}) {
		_, _ = f.Measured()
	}
	return f.Overfull()
}

// compare notes whether a measured filter is overfull, and reports it if it was not before. The caller holds
// no locks.
func (f *Filter) compare(s umbel.Stats) {
	switch {
	case f.Reason() != "" || !f.Planned().Exceeded(s.FPRate):
		f.set(flagOverfull, false)
	case f.flags.Or(flagOverfull)&flagOverfull == 0 && f.engine.overfull != nil:
		f.engine.overfull(f, s)
	}
}

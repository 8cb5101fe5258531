package sharedlog

import "time"

// WithClock returns o with another clock: the time on a steady one, and on that of the day.
func (o Options) WithClock(now func() (steady, day time.Duration)) Options {
	o.clock = func() instant {
		steady, day := now()
		return instant{steady, day}
	}
	return o
}

// EntryKey is for tests that damage entries.
var EntryKey = entryKey

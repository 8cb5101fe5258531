package sharedlog

import (
	"math/rand/v2"
	"time"
)

// instant is a time on two clocks of this machine: the one of Go's timers, which is steady and may stop while the
// machine sleeps, and that of the day, which goes on and may be set.
type instant struct{ steady, day time.Duration }

// clock returns the time now.
type clock func() instant

// systemClock returns the clocks of the system.
func systemClock() clock {
	begin := time.Now()
	return func() instant {
		now := time.Now()
		return instant{now.Sub(begin), now.Round(0).Sub(begin.Round(0))}
	}
}

// most returns the time since an instant, at most: a leader uses it, whose lease must not last too long. If one of
// the clocks is wrong, the lease is too short.
func (now instant) most(since instant) time.Duration {
	return max(now.steady-since.steady, now.day-since.day)
}

// least returns the time since an instant, at least: who waits for the end of another's lease uses it.
func (now instant) least(since instant) time.Duration { return now.steady - since.steady }

// jitter returns a random time below d, so that several members do not act at the same moment.
func jitter(d time.Duration) time.Duration { return rand.N(max(d, 1)) }

package live

import (
	"math"
	"time"
)

// clock is the time of a window in ticks. It follows the times that the window is given, and never goes back.
//
// Between two times of this process that have a monotonic reading, as those of time.Now, it advances by the difference of the
// readings. So a change of the system's clock neither expires keys early nor stops the window.
type clock struct {
	tick time.Duration
	now  uint64    // ticks; at first those of the file
	at   time.Time // when tick now began; zero before the first time
}

// advance returns the tick of time t, or the last tick if t is before it.
func (c *clock) advance(t time.Time) uint64 {
	if c.at.IsZero() {
		return c.begin(t)
	}
	if n := t.Sub(c.at) / c.tick; n > 0 {
		c.now += uint64(n)
		c.at = c.at.Add(n * c.tick)
	}
	return c.now
}

// begin is advance for the first time. If the file is ahead of the system's clock, because that was set back since the file
// was written, the window goes on from the time of the file.
func (c *clock) begin(t time.Time) uint64 {
	since := max(t.UnixNano(), 0)
	now := uint64(since / int64(c.tick))
	isSystems := t != t.Round(0) // has a monotonic reading
	switch {
	case now >= c.now:
		c.now, c.at = now, t.Add(-time.Duration(since%int64(c.tick)))
	case isSystems:
		c.at = t
	default: // an old line of a log, for example
		c.at = time.Unix(0, int64(min(c.now, math.MaxInt64/uint64(c.tick)))*int64(c.tick))
	}
	return c.now
}

package filters

import (
	"fmt"
	"math"
	"math/bits"
	"strings"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/files/uniq"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/filter/union"
	"github.com/umbel-filters/umbel/filter/window"
)

// tick is the length of a tick of a window that follows the system's clock, if the command makes it.
const tick = time.Second

// clock returns the time.
type clock func() time.Time

func (t target) clock() clock { return t.Now }

// follow advances a window that follows the system's clock to the present. If the window is ahead, because
// the clock went back, its time stays: no key expires early. It reports whether f follows the clock.
func (c clock) follow(f umbel.Filter) bool {
	w, ok := f.(*window.Filter)
	if !ok || w.Tick() == 0 {
		return false
	}
	if now := c.ticks(time.Duration(w.Tick())); now > w.Now() {
		_ = w.Advance(now) // it fails only if time goes back
	}
	return true
}

// presentWindows returns the windows of umbel uniq with a state of kind union, at the present time, and false for another state.
func (c clock) presentWindows(s umbel.State) (*uniq.Windows, bool, error) {
	if s.Kind != union.Name {
		return nil, false, nil
	}
	w, ok, err := uniq.OpenWindows(s, 0)
	if !ok || err != nil {
		return nil, false, err
	}
	if now := c.ticks(time.Duration(s.Tick)); now > w.Now() {
		_ = w.Advance(now) // it fails only if time goes back
	}
	return w, true, nil
}

// ticks returns the number of ticks since 1970.
func (c clock) ticks(length time.Duration) uint64 {
	return uint64(max(c().UnixNano(), 0)) / uint64(length)
}

// followClock makes an empty window by time follow the system's clock from now on.
func (c clock) followClock(f umbel.Filter) {
	w, ok := f.(*window.Filter)
	if _, byTime := windowSpan(f.State()); ok && byTime {
		w.SetTick(uint64(tick))
		c.follow(w)
	}
}

// clocked returns kind v, whose new filters follow the system's clock if length, the length of a tick, is not 0.
func (c clock) clocked(v umbel.Kind, length time.Duration) umbel.Kind {
	if length == 0 {
		return v
	}
	plain := v.New
	v.New = func(g umbel.Goal, ps umbel.Params) (umbel.Filter, error) {
		f, err := plain(g, ps)
		if err == nil {
			c.followClock(f)
		}
		return f, err
	}
	return v
}

// span is the time for which the keys of a window stay, and its time, in ticks.
type span struct {
	now   uint64
	step  uint64        // length of a generation
	steps uint64        // generations for which a key stays
	tick  time.Duration // 0 if a program chose unit and origin of the time

	// Of a node's filter: see api.Window.
	Behind, Ahead time.Duration
}

// windowSpan returns the span of a window by time, or of the windows of umbel uniq, and false for another filter.
func windowSpan(s umbel.State) (span, bool) {
	if s.Kind == union.Name && s.Tick != 0 && len(s.Parts) > 0 {
		tick := s.Tick
		s = s.Parts[0]
		s.Tick = tick
	}
	w := span{now: s.Params.Uint("now"), step: s.Params.Uint("ticks"), steps: s.Params.Uint("l"), tick: time.Duration(s.Tick)}
	return w, s.Kind == window.Name && w.step != 0
}

// NodeSpan is windowSpan for the reply of a node.
func NodeSpan(w *api.Window) (span, bool) {
	if w == nil {
		return span{}, false
	}
	return span{now: w.Now, step: w.Ticks, steps: w.Generations, tick: time.Duration(w.TickNanos), Behind: seconds(w.BehindSeconds),
		Ahead: seconds(w.AheadSeconds)}, true
}

// unix reports whether the time can be in seconds since 1970: it is in the years 2001 to 2286.
func (w span) unix() bool { return w.now >= 1e9 && w.now < 1e10 }

// length returns the length of a tick, 0 if it is unknown.
func (w span) length() time.Duration {
	if w.tick == 0 && w.unix() {
		return time.Second
	}
	return w.tick
}

// After describes when keys expire.
func (w span) After() string {
	least, most := w.step*w.steps, w.step*(w.steps+1)
	if w.length() == 0 {
		return fmt.Sprintf("after %d to %d ticks", least, most)
	}
	return fmt.Sprintf("after %s to %s", duration(least, w.length()), duration(most, w.length()))
}

// least describes the time for which a key stays at least.
func (w span) least() string {
	if w.length() == 0 {
		return fmt.Sprintf("%d ticks", w.step*w.steps)
	}
	return duration(w.step*w.steps, w.length())
}

// words describes when keys expire, and the time.
func (w span) words() string {
	if w.length() == 0 {
		return fmt.Sprintf("%s; now %d", w.After(), w.now)
	}
	now := "later than " + time.Unix(0, math.MaxInt64).UTC().Format(time.RFC3339)
	if hi, ns := bits.Mul64(w.now, uint64(w.length())); hi == 0 && ns <= math.MaxInt64 {
		now = time.Unix(0, int64(ns)).UTC().Format(time.RFC3339)
	}
	return w.After() + "; now " + now + w.Still() + w.lag()
}

// Still says that a time in seconds since 1970 does not follow the clock, "" for another time.
func (w span) Still() string {
	if w.tick == 0 && w.unix() {
		return ", until umbel edit advance sets another time"
	}
	return ""
}

// seconds returns the duration of s seconds, at most the longest.
func seconds(s float64) time.Duration {
	return time.Duration(min(s*float64(time.Second), math.MaxInt64-1024))
}

// lag describes how far the time of a node's filter is from the clock, "" if it is not.
func (w span) lag() string {
	switch {
	case w.Behind > 0:
		return fmt.Sprintf("; %v behind the clock, so that keys stay longer", w.Behind.Round(time.Second))
	case w.Ahead > 0:
		return fmt.Sprintf("; %v ahead of the clock: no key expires until then; make it again", w.Ahead.Round(time.Second))
	}
	return ""
}

// duration formats a number of ticks, without units that are zero: 1h instead of 1h0m0s.
func duration(ticks uint64, length time.Duration) string {
	if ticks > math.MaxInt64/uint64(length) {
		return fmt.Sprintf("%d ticks of %v", ticks, length)
	}
	s := (time.Duration(ticks) * length).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/window"
)

// span is the time for which the keys of a window stay, and its clock. They are in ticks, which are
// seconds since 1970 if umbel advance --now or umbel uniq --for set the clock.
type span struct {
	now   uint64
	step  uint64 // length of a generation
	steps uint64 // generations for which a key stays
}

// windowSpan returns the span of a window by time, and false for another filter.
func windowSpan(s umbel.State) (span, bool) {
	return spanOf(s.Kind, s.Params.Uint)
}

// spanOf is windowSpan for the kind and the parameters of a filter.
func spanOf(kind string, param func(name string) uint64) (span, bool) {
	w := span{now: param("now"), step: param("ticks"), steps: param("l")}
	return w, kind == window.Name && w.step != 0
}

// unix reports whether the clock can be that of the system: it is in the years 2001 to 2286.
func (w span) unix() bool { return w.now >= 1e9 && w.now < 1e10 }

// words describes when keys expire, and the time.
func (w span) words() string {
	least, most := w.step*w.steps, w.step*(w.steps+1)
	if !w.unix() {
		return fmt.Sprintf("after %d to %d ticks; now %d", least, most, w.now)
	}
	return fmt.Sprintf("after %s to %s; now %s", seconds(least), seconds(most), time.Unix(int64(w.now), 0).Format(time.RFC3339))
}

// seconds formats a number of seconds, without units that are zero: 1h instead of 1h0m0s.
func seconds(n uint64) string {
	if n > uint64(1<<63-1)/uint64(time.Second) {
		return fmt.Sprintf("%d s", n)
	}
	s := (time.Duration(n) * time.Second).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// unixNow returns the time in seconds since 1970.
func unixNow() uint64 { return uint64(time.Now().Unix()) }

package live

import (
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Names of parameters of kind window and of its states: spec/kinds/window.md.
const (
	byKeysName      = "by-keys"
	generationsName = "l"
	ticksName       = "ticks" // of a generation; 0 in a window by keys
	nowName         = "now"
)

// shortWindow is the window from which a tick is a second, as in files that the command makes, instead of a millisecond.
const shortWindow = time.Minute

// params returns the parameters of a new filter with Window, and the length of a tick, 0 if no key expires by time.
func (o Options) params(kind umbel.Kind) (umbel.Params, time.Duration, error) {
	var name string
	for _, p := range kind.Params {
		if p.Ticks {
			name = p.Name
		}
	}
	_, given := o.Params.Get(name)
	switch {
	case name == "" && o.Window != 0:
		return nil, 0, sentinel.Errorf(umbel.ErrGoal, "a Window of %v is given, and keys of kind %s don't expire by time: use kind window", o.Window, kind.Name)
	case name == "" || o.Params.Uint(byKeysName) != 0 && o.Window == 0:
		return o.Params, 0, nil
	case given || o.Window < time.Millisecond:
		return nil, 0, sentinel.Errorf(umbel.ErrGoal, "a Window of %v is given for kind %s, want at least 1ms, and no parameter %q", o.Window, kind.Name, name)
	}
	tick := time.Second
	if o.Window < shortWindow {
		tick = time.Millisecond
	}
	ticks := uint64((o.Window-1)/tick) + 1
	return append(o.Params[:len(o.Params):len(o.Params)], umbel.Param{Name: name, Value: umbel.Uint(ticks)}), tick, nil
}

// checkWindow returns an error unless keys of a filter with state s expire as those of a new one with the given tick.
func (o Options) checkWindow(s umbel.State, tick time.Duration) error {
	generation, ok := s.Params.Get(ticksName)
	l := s.Params.Uint(generationsName)
	switch ticks := generation.Bits(); {
	case !ok || ticks == 0 && tick == 0:
		return nil
	case ticks == 0:
		return sentinel.Errorf(umbel.ErrMismatch, "the file has a window by keys, want one of %v", o.Window)
	case tick == 0:
		return sentinel.Errorf(umbel.ErrMismatch, "the file has a window by time, want one by keys")
	case s.Tick == 0:
		return sentinel.Errorf(umbel.ErrMismatch, "the time of the window in the file is a number that a program chose, want the system's clock")
	default:
		// It was rounded up by less than a tick for each generation.
		have, each := float64(ticks)*float64(l)*float64(s.Tick), float64(l)*float64(s.Tick)
		if want := float64(o.Window); have < want || have >= want+each+float64(s.Tick) {
			return sentinel.Errorf(umbel.ErrMismatch, "the window of the file is %v, want %v", time.Duration(have), o.Window)
		}
		return nil
	}
}

package uniq

import (
	"errors"
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/files/container"
	"github.com/umbel-filters/umbel/filter/union"
	"github.com/umbel-filters/umbel/filter/window"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Windows is a window by time that grows with its keys: windows side by side that have one clock. Keys are added to the
// last one, and renewed there. When its rate reaches its share, a window for twice the keys follows. Window i, from 0 on, has the share
// 2^-(i+1) of the rate, so that the rates of all sum up to less than it. The earlier windows take less memory than the last one,
// and their keys expire. It is not safe for concurrent use.
//
// Its state is that of kind window while there is one, and of kind union otherwise, with the tick of all windows.
type Windows struct {
	list     []*window.Filter
	planned  umbel.Planned // of the first window: its keys, and the rate of all
	span     uint64        // ticks for which keys stay
	maxBytes uint64        // 0: no limit
	added    uint64        // to the last window since it was opened
	next     uint64        // added at which its rate is measured
	retry    uint64        // added at which Add measures again after memory did not permit another window
}

// shareUsed is the part of its share for which a window is planned: the rate is measured from time to time.
const shareUsed = 0.9

// NewWindows returns windows for goal.Keys keys per span at first, and for any number at the rate of the goal. The length of a tick
// is that of umbel.State.
func NewWindows(goal umbel.Goal, span, tick, now uint64) (*Windows, error) {
	w := &Windows{planned: umbel.Planned{Keys: goal.Keys, FPRate: goal.FPRate}, span: span}
	first, err := w.window(goal, 0)
	if err != nil {
		return nil, err
	}
	first.SetTick(tick)
	first.SetPlanned(w.planned)
	w.list = []*window.Filter{first}
	return w, first.Advance(now)
}

// OpenWindows returns the windows with state s and takes over its memory. Without a tick in s, that is the given one. ok is false for
// other states, and for windows by keys or without a number of keys that they are planned for.
func OpenWindows(s umbel.State, tick uint64) (w *Windows, ok bool, err error) {
	states := []umbel.State{s}
	if s.Kind == union.Name {
		states = s.Parts
	}
	if s.Tick != 0 {
		tick = s.Tick
	}
	w = &Windows{planned: s.Planned}
	if n := len(states); n == 0 || n > maxWindows || s.Planned == (umbel.Planned{}) || tick == 0 {
		return nil, false, nil
	}
	// Each window has twice the keys of the one before.
	w.planned.Keys = max(1, s.Planned.Keys/(1<<len(states)-1))
	for _, part := range states {
		if part.Kind != window.Name || part.Params.Uint("ticks") == 0 {
			return nil, false, nil
		}
		f, err := window.Open(part)
		if err != nil {
			return nil, false, err
		}
		if n := len(w.list); n > 0 && f.Now() != w.list[n-1].Now() {
			return nil, false, nil // another program made it
		}
		f.SetTick(tick)
		w.list = append(w.list, f)
	}
	if shape := w.list[0].Shape(); w.span == 0 {
		w.span = shape.Ticks * uint64(shape.L)
	}
	return w, true, nil
}

// maxWindows is the largest number of windows: each doubles the keys.
const maxWindows = 48

// share returns the rate of window i.
func (w *Windows) share(i int) float64 { return w.planned.FPRate * math.Pow(2, -float64(i+1)) }

// window makes window i for a number of keys.
func (w *Windows) window(goal umbel.Goal, i int) (*window.Filter, error) {
	goal.FPRate = shareUsed * w.share(i)
	params := umbel.Params{{Name: "window", Value: umbel.Uint(w.span)}}
	forecast, err := window.Kind.Plan(goal, params)
	if err != nil {
		return nil, err
	}
	total := forecast.Bytes
	for _, f := range w.list {
		total += f.State().Bytes()
	}
	if w.maxBytes > 0 && total > w.maxBytes && len(w.list) > 0 {
		return nil, sentinel.Errorf(umbel.ErrLimit, "windows of %d bytes, want at most %d", total, w.maxBytes)
	}
	if err := container.Fits(fmt.Sprintf("a window for %d lines", goal.Keys), forecast.Bytes); err != nil {
		return nil, err
	}
	f, err := window.Kind.New(goal, params)
	if err != nil {
		return nil, err
	}
	return f.(*window.Filter), nil
}

// SetMaxBytes limits the memory of windows that are added, 0 for no limit.
func (w *Windows) SetMaxBytes(n uint64) { w.maxBytes, w.retry = n, 0 }

// First returns what the first window is planned for: its keys, and the rate of all windows.
func (w *Windows) First() umbel.Planned { return w.planned }

// Advance advances all windows: see [umbel.Advancer].
func (w *Windows) Advance(to uint64) error {
	for _, f := range w.list {
		if err := f.Advance(to); err != nil {
			return err
		}
	}
	return nil
}

// Now returns the time of all windows.
func (w *Windows) Now() uint64 { return w.last().Now() }

func (w *Windows) last() *window.Filter { return w.list[len(w.list)-1] }

// Hasher implements [umbel.Filter].
func (w *Windows) Hasher() umbel.Hasher { return w.list[0].Hasher() }

// Has implements [umbel.Filter].
func (w *Windows) Has(d umbel.Digest) bool {
	for i := len(w.list) - 1; i >= 0; i-- {
		if w.list[i].Has(d) {
			return true
		}
	}
	return false
}

// TryAdd adds d to the last window, and before that a window if the rate requires it. If memory does not permit one, it
// returns an error wrapping umbel.ErrLimit, and w is unchanged: see [umbel.Grower].
func (w *Windows) TryAdd(d umbel.Digest) (bool, error) {
	if w.added >= w.next {
		if err := w.measure(); err != nil {
			return false, err
		}
	}
	return w.add(d), nil
}

// Add is TryAdd, but it adds d also if memory does not permit another window. The rate then rises, and Add tries again
// after 1/256 of the window's keys.
func (w *Windows) Add(d umbel.Digest) bool {
	if w.added >= max(w.next, w.retry) && w.measure() != nil {
		w.retry = w.added + max(1, w.keys()/256)
	}
	return w.add(d)
}

// add adds d to the last window.
func (w *Windows) add(d umbel.Digest) bool {
	if !w.last().Add(d) {
		return false
	}
	w.added++
	return true
}

// Clear removes all keys, and all windows but the first.
func (w *Windows) Clear() {
	w.list = w.list[:1]
	w.list[0].SetPlanned(w.planned) // notes of a part are not kept in files
	w.list[0].Clear()
	w.added, w.next, w.retry = 0, 0, 0
}

// keys returns the keys that the last window is planned for.
func (w *Windows) keys() uint64 { return w.planned.Keys << (len(w.list) - 1) }

// measure adds a window if the last one has used its share, and otherwise plans the next measurement.
func (w *Windows) measure() error {
	i := len(w.list) - 1
	last := w.last()
	keys := w.keys()
	if used := last.Stats().FPRate / w.share(i); used < 1 {
		// The rate grows at most as the k-th power of the keys: keys/256 more keys raise it by at most 10 % for k = 24.
		w.next = w.added + max(1, keys/256, uint64((1-math.Pow(used, 1/float64(last.Shape().K)))*float64(keys)))
		return nil
	}
	if len(w.list) == maxWindows || keys > math.MaxUint64/4 {
		return sentinel.Errorf(umbel.ErrLimit, "%d windows", len(w.list))
	}
	next, err := w.window(umbel.Goal{Keys: 2 * keys, Hasher: w.Hasher()}, i+1)
	if errors.Is(err, umbel.ErrLimit) {
		return err
	}
	if err != nil {
		return sentinel.Wrap(umbel.ErrLimit, err)
	}
	next.SetTick(last.Tick())
	next.SetPlanned(umbel.Planned{Keys: 2 * keys, FPRate: w.share(i + 1)})
	if err := next.Advance(last.Now()); err != nil {
		return err
	}
	w.list, w.added, w.next, w.retry = append(w.list, next), 0, 0, 0
	return nil
}

// State implements [umbel.Filter].
func (w *Windows) State() umbel.State {
	if len(w.list) == 1 {
		return w.list[0].State()
	}
	s := umbel.State{Kind: union.Name, Hasher: w.Hasher(), Notes: umbel.Notes{Planned: w.planned, Tick: w.last().Tick()}}
	s.Planned.Keys *= 1<<len(w.list) - 1
	for _, f := range w.list {
		s.Parts = append(s.Parts, f.State())
	}
	return s
}

// Stats implements [umbel.Filter].
func (w *Windows) Stats() umbel.Stats {
	if len(w.list) == 1 {
		return w.list[0].Stats()
	}
	u, err := union.Open(w.State())
	if err != nil {
		panic(err) // a state of ours
	}
	return u.Stats()
}

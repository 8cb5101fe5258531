package engine

import (
	"context"
	"errors"
	"math/bits"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine/operation"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// timed is a filter with a time that can be that of the engine's clock, such as a window by time. Its state
// has the note (umbel.State.Tick) and the parameter ticks, the length of a generation.
type timed interface {
	umbel.Filter
	umbel.Advancer
	Now() uint64
	Tick() uint64
	SetTick(ns uint64)
}

// pace is how the time of a filter follows the clock.
type pace struct {
	tick       uint64 // nanoseconds
	generation uint64 // ticks; keys expire only when a generation ends
}

// startClock makes a new filter follow the clock, in ticks of the given number of nanoseconds.
func (e *Engine) startClock(f umbel.Filter, tick uint64) error {
	t, ok := f.(timed)
	if !ok {
		return sentinel.Errorf(umbel.ErrGoal, "kind %s has no clock to follow; omit the length of a tick", f.State().Kind)
	}
	if err := t.Advance(e.ticks(tick)); err != nil {
		return sentinel.Errorf(umbel.ErrGoal, "the filter has no clock to follow; omit the length of a tick: %w", err)
	}
	t.SetTick(tick)
	return nil
}

// ticks returns the number of ticks since 1970, 0 if a clock cannot be right.
func (e *Engine) ticks(tick uint64) uint64 {
	high, low := bits.Mul64(uint64(max(e.now(), 0)), 1e6)
	if high != 0 {
		return 0
	}
	return low / tick
}

// notePace notes whether the time of a filter follows the clock. The caller holds e.index, and prevents changes of
// the filter.
func (e *Engine) notePace(f *Filter) {
	t, ok := f.filter.(timed)
	if !ok || f.is(flagFollowed) {
		return
	}
	if tick := t.Tick(); tick != 0 {
		e.paces[f] = pace{tick, max(t.State().Params.Uint("ticks"), 1)}
	} else {
		delete(e.paces, f)
	}
	f.set(flagPaced, t.Tick() != 0)
}

// checkAhead returns an error wrapping umbel.ErrMismatch if a time is more than a generation ahead of the clock that a filter
// follows: all its keys would expire, and later ones stay until the clock has reached that time.
func (e *Engine) checkAhead(f umbel.Filter, to uint64) error {
	t, ok := f.(timed)
	if !ok || t.Tick() == 0 || e.now() <= 0 {
		return nil
	}
	present, generation := e.ticks(t.Tick()), max(t.State().Params.Uint("ticks"), 1)
	if to > present && to-present > generation {
		return sentinel.Errorf(umbel.ErrMismatch, "the time of the filter follows the clock of the server, where it is %d: %d is too far ahead", present, to)
	}
	return nil
}

// FollowClock advances the filters whose state has the note that their time is that of the clock
// (umbel.State.Tick), if a generation of their keys has ended. Between these moments an advance would change no
// answer. A filter that is ahead of the clock stays. A filter whose changes wait is advanced by a later call. It
// returns an error wrapping ErrReadOnly if no changes are accepted, and that of ctx. Without such filters it
// takes less than a microsecond, independent of the number of others.
func (e *Engine) FollowClock(ctx context.Context) error {
	for _, f := range e.followers() {
		to, due := f.due()
		if !due || f.extra().blocked.Load() {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := f.do(operation.Advance, umbel.Uint(to), nil); errors.Is(err, ErrReadOnly) { // otherwise it was deleted, advanced or is being loaded
			return err
		}
	}
	return nil
}

// catchUp advances the filter as FollowClock does, before keys are added: these would otherwise count as older than
// they are, and expire too early. An addition has the same error, if there is one.
func (f *Filter) catchUp() {
	if !f.is(flagPaced) || f.extra().blocked.Load() {
		return
	}
	if to, due := f.due(); due {
		_, _ = f.do(operation.Advance, umbel.Uint(to), nil)
	}
}

// followers returns the filters that follow the clock.
func (e *Engine) followers() []*Filter {
	e.index.RLock()
	defer e.index.RUnlock()
	if len(e.paces) == 0 {
		return nil
	}
	all := make([]*Filter, 0, len(e.paces))
	for f := range e.paces {
		all = append(all, f)
	}
	return all
}

// due returns the present time of a filter that follows the clock, and whether a generation has ended since its
// time. After a fault it has not.
func (f *Filter) due() (to uint64, due bool) {
	to, due, err := f.readDue()
	return to, due && err == nil
}

func (f *Filter) readDue() (to uint64, due bool, err error) {
	defer f.CatchFault(&err)
	f.engine.index.RLock()
	p, ok := f.engine.paces[f]
	f.engine.index.RUnlock()
	if !ok {
		return 0, false, nil
	}
	to = f.engine.ticks(p.tick)
	f.cells.RLock()
	defer f.cells.RUnlock()
	t, ok := f.filter.(timed)
	return to, ok && to/p.generation > t.Now()/p.generation, nil
}

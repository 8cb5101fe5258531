package engine

import (
	"errors"
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/share"
)

// The filters of a replica are versions of filters that change elsewhere. They are followed: the subscriber that
// receives the versions replaces them with Follow, and states for each query whether they are up to date.

// ErrReplica means that the filters are followed, and that the engine accepts no changes of clients. It is
// for Options.ReadOnly.
var ErrReplica = errors.New("this is a replica; change the filter where it is published")

// ErrFollower means that the node follows the leader of its group, which alone accepts changes of clients.
var ErrFollower = errors.New("changes are for the leader of the group")

// FollowerError is an ErrFollower.
type FollowerError struct {
	Leader string // address for Redis clients; "": unknown, or none
}

func (e *FollowerError) Error() string {
	if e.Leader == "" {
		return "this node follows, and its group has no leader now; try again"
	}
	return "this node follows the leader of its group, " + e.Leader
}

func (e *FollowerError) Unwrap() error { return ErrFollower }

// ErrMaybe is the result of a check of Follow if every key may be present. Queries then return true. It
// wraps share.ErrStale.
var ErrMaybe = fmt.Errorf("every query returns true, because the version is %w", share.ErrStale)

// Stale is the reason why a followed filter is incomplete: its version may be out of date.
const Stale = "stale"

// Follow stores a version of a filter under a name, in place of the version before. The number of the
// version is that of Filter.Version. Nothing may change g afterwards.
//
// check is called for each query, and must not wait. If it returns nil, g answers; if it returns an error
// wrapping ErrMaybe, every answer is true; any other error is that of the query. Copies of the filter and
// what is derived from them fail with every error of check.
//
// Follow returns an error wrapping ErrMemory if there is not enough memory for g in addition to the version
// before, which then stays.
func (e *Engine) Follow(name string, g umbel.Filter, version uint64, check func() error) (*Filter, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	s := g.State()
	d, err := e.designFor(s.Kind, s.Hasher)
	if err != nil {
		return nil, err
	}
	n := footprint(name, arrayBytesOf(g, s))
	if err := e.memory.reserve(n); err != nil {
		return nil, err
	}
	f := &Filter{design: d, filter: g}
	f.name.Store(newLabel(name))
	f.bytes.Store(n)
	f.used.Store(e.now())
	f.last.Store(version)
	f.ownExtra().check = check
	f.set(flagFollowed, true)
	e.directory.Lock()
	defer e.directory.Unlock()
	if old := e.names.find(name); old != nil {
		f.counts.queried.Store(old.counts.queried.Load())
		f.counts.found.Store(old.counts.found.Load())
		f.set(flagOverfull, old.Overfull()) // so that it is not reported for each version
		old.retire(nil)
	}
	f.id = e.newID()
	e.addToIndex(f)
	return f, nil
}

// SetFresh sets a function that returns why answers must not be given, nil if they may, of a node whose filters may be behind those of
// another one. Its error wraps share.ErrStale. It is called for each query and must be quick. SetFresh is called before the engine is used.
func (e *Engine) SetFresh(check func() error) { e.fresh = check }

// outdated returns why the answers of a filter must not be given, nil if they may.
func (f *Filter) outdated() error {
	if f.is(flagFollowed) {
		return f.extra().check()
	}
	return f.engine.outdated()
}

// outdated returns why answers must not be given, nil if they may.
func (e *Engine) outdated() error {
	if e.fresh == nil {
		return nil
	}
	return e.fresh()
}

// outdatedAnswer reports whether every key may be present because a followed filter is out of date. Its
// error is that of the query.
func (f *Filter) outdatedAnswer() (always bool, err error) {
	switch err := f.outdated(); {
	case err == nil:
		return false, nil
	case errors.Is(err, ErrMaybe):
		return true, nil
	default:
		return false, fmt.Errorf("%q: %w", f.Name(), err)
	}
}

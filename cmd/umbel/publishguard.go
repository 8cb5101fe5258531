package main

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/signing"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/compare"
	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/wire"
)

// lostShare is a share of keys, more than 0 and at most 1.
type lostShare float64

// Set parses a share such as 20% or 100%.
func (l *lostShare) Set(s string) error {
	if s == "100%" || s == "1" {
		*l = 1
		return nil
	}
	r, err := quantity.ParseRate(s)
	if err != nil {
		return fmt.Errorf("%q, want a share above 0 and at most 100%%", s)
	}
	*l = lostShare(r)
	return nil
}

func (l lostShare) String() string { return fmt.Sprintf("%.3g%%", 100*float64(l)) }

// Type names the flag's value in help texts.
func (l *lostShare) Type() string { return "share" }

// guard refuses a filter that has lost too many keys: its list may have been emptied or exchanged by mistake.
type guard struct {
	maxShrink float64     // share of the keys that a version may lose, at most 1
	keys      float64     // estimate for the last version; 0 before the first
	last      umbel.State // the last version, if its keys are compared
}

// shrunkError is the error of a filter that has lost too many keys.
type shrunkError string

func (e shrunkError) Error() string { return string(e) }

// begin reads the number of keys of the version in a store.
func (g *guard) begin(ctx context.Context, store share.Source, key signing.Key) error {
	if g.maxShrink >= 1 {
		return nil
	}
	last, err := lastVersion(ctx, store, key)
	if last != nil {
		g.keys, g.last = last.Stats().Keys, last.State()
	}
	return err
}

// lastVersion returns the filter of the last version in a store, and nil if there is none. If its objects are lost or
// damaged it returns a [shrunkError]: a publisher would begin a new stream, with however few keys.
func lastVersion(ctx context.Context, store share.Source, key signing.Key) (umbel.Filter, error) {
	s, err := share.NewSubscriber(ctx, share.SubscriberOptions{
		Source: store, Verifier: key.Verifier, Kinds: filter.All, Stale: share.StaleLast, Limits: wire.Limits{Bytes: math.MaxUint64},
	})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	err = s.Update(ctx)
	if v := s.View(); v != nil {
		return v.Filter(), nil
	}
	if _, missing := store.Record(ctx, share.HeadName); missing == nil && (errors.Is(err, share.ErrNotFound) || errors.Is(err, share.ErrCorrupt)) {
		return nil, withCode(exitRefused, shrunkError("the objects of the last version are lost or damaged, so its keys cannot be compared; publish with --max-shrink 100% to begin a new stream without"))
	}
	return nil, nil // a publisher finds what is wrong with the head
}

// check returns an error wrapping a [shrunkError] if the next version, with this number of keys, has lost too many.
func (g *guard) check(s umbel.State, keys float64) error {
	if err := g.checkKeys(keys); err != nil {
		return err
	}
	return g.checkCommon(s)
}

// published makes s, with this number of keys, the last version.
func (g *guard) published(s umbel.State, keys float64) {
	g.keys = keys
	if g.maxShrink < 1 {
		g.last = s
	}
}

// checkCommon returns an error wrapping a [shrunkError] if the next version certainly has too few keys of the last
// one. Filters that can't be compared pass: only their numbers of keys are known.
func (g *guard) checkCommon(next umbel.State) error {
	if g.maxShrink >= 1 || g.last.Kind == "" || g.last.Equal(next) {
		return nil
	}
	common, err := commonKeys(g.last, next)
	if err != nil || math.IsInf(g.keys, 0) || math.IsNaN(common.Value) || !(common.High < g.keys*(1-g.maxShrink)) {
		return nil
	}
	return withCode(exitRefused, shrunkError(fmt.Sprintf("has about %s of the %s keys of the last version, of which at most %v may be lost; publish it with --max-shrink 100%% if that is intended",
		wholeKeys(common.Value), wholeKeys(g.keys), lostShare(g.maxShrink))))
}

// commonKeys estimates how many keys two states share.
func commonKeys(a, b umbel.State) (plan.Estimate, error) {
	f, err := filter.All.Open(a)
	if err != nil {
		return plan.Estimate{}, err
	}
	g, err := filter.All.Open(b)
	if err != nil {
		return plan.Estimate{}, err
	}
	o, err := compare.Of(filter.All, f, g)
	return o.Both, err
}

// checkKeys returns an error wrapping a [shrunkError] if a version with this number of keys has lost too many.
func (g *guard) checkKeys(keys float64) error {
	if math.IsInf(g.keys, 0) || !(keys < g.keys*(1-g.maxShrink)) { // a full filter has no estimate
		return nil
	}
	return withCode(exitRefused, shrunkError(fmt.Sprintf("has about %s keys, and the last version has %s, of which at most %v may be lost; publish it with --max-shrink 100%% if that is intended",
		wholeKeys(keys), wholeKeys(g.keys), lostShare(g.maxShrink))))
}

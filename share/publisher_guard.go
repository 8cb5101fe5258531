package share

import (
	"errors"
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/compare"
)

// guard refuses versions that have lost too many keys: the list may have been emptied or exchanged by mistake.
type guard struct {
	share float64 // of the keys that a version may lose: PublisherOptions.MaxShrink
	kinds umbel.Kinds
	keys  float64 // estimate for the last version, NaN if it is not known
	next  float64 // estimate for the version that was checked last
}

func newGuard(o *PublisherOptions) guard {
	return guard{share: o.MaxShrink, kinds: o.Kinds, keys: math.NaN(), next: math.NaN()}
}

// permitsAll reports whether versions may lose all keys.
func (g *guard) permitsAll() bool { return g.share == 0 || g.share == 1 }

// ShrunkError is the error of a version that has lost more keys than PublisherOptions.MaxShrink permits. Numbers of keys
// are estimates.
type ShrunkError struct {
	Keys      float64 // of the version
	Common    float64 // keys that it shares with the last version; NaN if they were not compared
	Last      float64 // of the last version; NaN if its objects are lost, so that it cannot be compared
	MaxShrink float64
}

// Error states the numbers of keys and the remedy.
func (e *ShrunkError) Error() string {
	if math.IsNaN(e.Last) {
		return "the objects of the last version are lost or damaged, so its keys cannot be compared; a publisher with MaxShrink 1 begins a new stream"
	}
	has := fmt.Sprintf("about %.0f keys, and the last version has %.0f", e.Keys, e.Last)
	if !math.IsNaN(e.Common) {
		has = fmt.Sprintf("about %.0f of the %.0f keys of the last version", e.Common, e.Last)
	}
	return fmt.Sprintf("the filter has %s, of which at most %.3g%% may be lost; permit more with MaxShrink if that is intended", has, 100*e.MaxShrink)
}

// isShrunk reports whether err is a ShrunkError.
func isShrunk(err error) bool {
	var shrunk *ShrunkError
	return errors.As(err, &shrunk)
}

// check returns a ShrunkError if the next state certainly has too few keys of the last one: by the
// estimated numbers of their keys or, if the filters can be compared, of their common keys. Full filters have no
// estimate and pass.
func (g *guard) check(last, next umbel.State) error {
	if g.permitsAll() {
		return nil
	}
	before, err := g.kinds.Open(last)
	if err != nil {
		return err
	}
	after, err := g.kinds.Open(next)
	if err != nil {
		return err
	}
	if math.IsNaN(g.keys) {
		g.keys = before.Stats().Keys
	}
	g.next = after.Stats().Keys
	least := g.keys * (1 - g.share)
	shrunk := &ShrunkError{Keys: g.next, Common: math.NaN(), Last: g.keys, MaxShrink: g.share}
	switch {
	case math.IsInf(g.keys, 0):
		return nil
	case g.next < least:
		return shrunk
	case last.Equal(next):
		return nil
	}
	if o, err := compare.Of(g.kinds, before, after); err == nil && o.Both.High < least {
		shrunk.Common = o.Both.Value
		return shrunk
	}
	return nil
}

// lost returns the error of a publication whose last version cannot be read.
func (g *guard) lost() error {
	if g.permitsAll() {
		return nil
	}
	return &ShrunkError{Keys: math.NaN(), Common: math.NaN(), Last: math.NaN(), MaxShrink: g.share}
}

// published notes that the version that was checked last is published.
func (g *guard) published() { g.keys, g.next = g.next, math.NaN() }

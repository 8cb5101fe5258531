package share

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Update is what Feed.Next returns: a state, and what changed in it if that is known.
type Update struct {
	State umbel.State
	// Changed is the argument of Publisher.PublishChanged. The words are those that may have changed since the update
	// before.
	Changed func(array int) iter.Seq[uint64]
}

// Publish publishes a version. It reads the state with plain loads until it returns: nothing may
// change the filter meanwhile. If the state is that of the last version, Publish is Renew.
//
// Publish compares the state with the last version, which takes the time of reading both. For large
// filters see PublishChanged.
//
// A filter that has lost more keys than PublisherOptions.MaxShrink permits is refused: the error is a [*ShrunkError].
//
// If Publish returns an error and no head, the version is not published, unless the store kept the
// head in spite of its error. Publish may be called again. If it returns both, the version is
// published, but an old object could not be removed. If the error wraps ErrFork, something else
// changed the store: continue with a new publisher. It wraps umbel.ErrMismatch if the filter cannot be
// folded by all factors of PublisherOptions.Folds, errors.ErrUnsupported if its kind has no folds, and
// umbel.ErrGoal if the filter is a zero filter.
func (p *Publisher) Publish(ctx context.Context, s umbel.State) (*Head, error) {
	return p.PublishChanged(ctx, s, nil)
}

// PublishChanged is Publish for a program that notes what it changes: its time is in proportion to the
// change. For each array, counted through all parts, changed returns the numbers of the words that may have
// changed since the last call of Publish or PublishChanged, ascending and without repetition, or nil if
// there are none. What changed in other words is not published. Parameters of the state may change in any
// case. If changed is nil, all words may have changed.
//
// The list is not used by the first call, and after a call that returned no head. PublishChanged panics
// if an array has no word of a given number. If the publication has fold classes, the time of folding the
// filter and of comparing the folds is added.
func (p *Publisher) PublishChanged(ctx context.Context, s umbel.State, changed func(array int) iter.Seq[uint64]) (*Head, error) {
	return p.put(ctx, Update{s, changed}, true)
}

// put is PublishChanged. If the state is that of the last version and renew is false, it changes nothing.
func (p *Publisher) put(ctx context.Context, u Update, renew bool) (*Head, error) {
	s, changed := u.State, wordLists(u.Changed)
	if !p.current {
		changed = nil
	}
	p.current = false
	if isZero(s) {
		return nil, sentinel.Errorf(umbel.ErrGoal, "publish: a zero filter of kind %s cannot be opened by subscribers: make the filter with New", s.Kind)
	}
	if err := s.Check(); err != nil {
		return nil, fmt.Errorf("publish: %w", err)
	}
	if !p.o.PublishSeed && hasSeed(s) {
		return nil, fmt.Errorf("subscribers would learn the seed of the hasher %s; make a filter with a seed of its own for "+
			"the publication, and permit publishing it: %w", s.Hasher, ErrSeed)
	}
	if c := p.whole(); c.head != nil {
		if err := p.guard.check(c.history.state, s); err != nil {
			return nil, err
		}
	}
	h, err := p.publish(ctx, s, changed, renew)
	p.current = h != nil
	return h, err
}

// publish is put for a state that may be published.
func (p *Publisher) publish(ctx context.Context, s umbel.State, changed wordLists, renew bool) (*Head, error) {
	version := p.version + 1
	drafts := []*draft{p.whole().draft(s, changed, version)}
	published := false
	defer func() {
		if !published {
			for _, d := range drafts {
				d.revert()
			}
		}
	}()
	if drafts[0].isUnchanged() && p.isComplete() {
		if !renew {
			return p.Head(), nil
		}
		return p.Renew(ctx)
	}
	folded, err := p.drafts(drafts[0], version)
	if drafts = append(drafts, folded...); err != nil {
		return nil, err
	}
	if err := p.write(ctx, drafts); err != nil {
		return nil, fmt.Errorf("publish version %d: %w", version, err)
	}
	// From here on the version is used up: the store may keep the head in spite of an error.
	published = true
	p.version = version
	p.guard.published()
	for _, d := range drafts {
		d.commit()
	}
	if err := p.sign(ctx); err != nil {
		return nil, fmt.Errorf("publish version %d: %w", version, err)
	}
	return p.Head(), p.catalog.collect(ctx)
}

// drafts begins the version of each fold class, and measures the rates of all classes. On error it returns the
// drafts that it began.
func (p *Publisher) drafts(whole *draft, version uint64) (list []*draft, err error) {
	if len(p.classes) == 1 {
		return nil, nil
	}
	f, err := p.o.Kinds.Open(whole.state)
	if err != nil {
		return nil, fmt.Errorf("publish: %w", err)
	}
	whole.rate = f.Stats().FPRate
	for i, c := range p.classes[1:] {
		if err := fold(f, c.fold/p.classes[i].fold); err != nil {
			if _, direct := foldState(p.o.Kinds, whole.state, c.fold); direct != nil {
				err = direct // it names the size that the filter needs, not that of a fold
			}
			return list, fmt.Errorf("publish: class %d: %w", c.fold, err)
		}
		d := c.draft(f.State(), nil, version)
		d.rate = f.Stats().FPRate
		list = append(list, d)
	}
	return list, nil
}

// isZero reports whether s is the state of a zero filter: it has no cells, and all its numbers are zero.
func isZero(s umbel.State) bool {
	return len(s.Parts) == 0 &&
		!slices.ContainsFunc(s.Arrays, func(a cells.Array) bool { return a.Len > 0 }) &&
		!slices.ContainsFunc(s.Params, func(p umbel.Param) bool { return p.Value != umbel.Number{} })
}

// hasSeed reports whether the hasher of s or of one of its parts has a seed.
func hasSeed(s umbel.State) bool {
	for _, p := range s.AllStates() {
		if p.Hasher.Seed != (umbel.Seed{}) {
			return true
		}
	}
	return false
}

// write writes the objects of a version, the finest class first. If a class takes a snapshot, the coarser
// ones do, too.
func (p *Publisher) write(ctx context.Context, drafts []*draft) error {
	snapshot := false
	for _, d := range drafts {
		d.head.Name, d.head.Stream, d.head.Valid = p.o.Key.Signer.Name(), p.stream, p.o.Valid
		if err := d.write(ctx, snapshot); err != nil {
			return err
		}
		snapshot = d.hasSnapshot()
	}
	// A finer class lists the refinements of the coarser ones.
	for i, d := range slices.Backward(drafts) {
		if i+1 < len(drafts) && d.hasSnapshot() {
			if err := d.refine(ctx, drafts[i+1]); err != nil {
				return err
			}
		}
		if err := d.index(ctx); err != nil {
			return err
		}
	}
	p.announce(drafts)
	return p.writeNotes(ctx, drafts)
}

// announce states all classes in all heads.
func (p *Publisher) announce(drafts []*draft) {
	if len(drafts) == 1 {
		return
	}
	var list []Class
	for _, d := range drafts {
		c := Class{Fold: d.class.fold, Snapshot: d.next.snapshots[0].Bytes, Rate: math.Ceil(min(d.rate, 1)*rateUnit) / rateUnit}
		if len(d.head.Deltas) > 0 {
			c.Delta = d.head.Deltas[0].Bytes
		}
		list = append(list, c)
	}
	for _, d := range drafts {
		d.head.Classes = list
	}
}

// Renew publishes the last version with a new time. The error wraps ErrNotFound if no version was published.
func (p *Publisher) Renew(ctx context.Context) (*Head, error) {
	if p.Head() == nil || !p.isComplete() {
		return nil, fmt.Errorf("renew: this version is not published yet: call Publish: %w", ErrNotFound)
	}
	for _, c := range p.classes {
		h := *c.head
		h.Valid = p.o.Valid
		c.head = &h
	}
	if err := p.sign(ctx); err != nil {
		return nil, fmt.Errorf("renew: %w", err)
	}
	return p.Head(), p.catalog.collect(ctx)
}

// sign signs the heads of all classes with the current time and stores them, the coarsest first. The time
// does not go backwards, unless the clock went back by more than subscribers accept: then it was wrong,
// and they refused the heads that were signed meanwhile. It fails if a head in the store is not the one
// that this publisher wrote last.
func (p *Publisher) sign(ctx context.Context) error {
	at := p.o.Now().UnixMilli()
	if last := p.before.UnixMilli(); last <= at+defaultSkew.Milliseconds() {
		at = max(at, last+1)
	}
	p.before = time.UnixMilli(at).UTC()
	signed := make([][]byte, len(p.classes))
	for i, c := range p.classes {
		c.head.Time = p.before
		var err error
		if signed[i], err = c.head.Sign(p.o.Key.Signer); err != nil {
			return err
		}
	}
	for _, c := range p.classes {
		if err := c.checkStore(ctx); err != nil {
			return err
		}
	}
	var offers []*offer
	for i, c := range slices.Backward(p.classes) {
		if err := c.store(ctx, signed[i]); err != nil {
			return err
		}
		offers = append(offers, c.current)
	}
	p.catalog.published(offers...)
	return nil
}

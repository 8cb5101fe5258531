package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/changelog"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/oplog"
)

// replay applies the changes that the copies lack.
func (r *recovery) replay(ctx context.Context) error {
	p := &changelog.Reader{Limits: limits(), Single: r.single, Each: r.apply}
	each := func(number uint64, b []byte) error {
		r.report.Batches++
		err := r.bridge(p, b)
		if err == nil {
			err = p.Batch(b)
		}
		if err != nil {
			return fmt.Errorf("batch %d: %w", number, err)
		}
		return nil
	}
	lost := func(first, last uint64, why error) error {
		what := fmt.Sprintf("batches %d to %d", first, last)
		switch {
		case last == first:
			what = fmt.Sprintf("batch %d", first)
		case last < first:
			what = fmt.Sprintf("batches from %d on", first)
		}
		if err := r.loss("%s: filters that may have changed in them return true for every key until they are created again, and filters created in them are gone: %w", what, why); err != nil {
			return err
		}
		r.holed = true
		return nil
	}
	_, r.batch = r.log.Bounds()
	var err error
	if r.o.AcceptLoss {
		err = r.log.ReadOver(ctx, r.from, each, lost)
	} else if err = r.log.Read(ctx, r.from, each); errors.Is(err, oplog.ErrHole) {
		return r.loss("changes of filters: %w", err)
	}
	if err == nil {
		err = p.Flush()
	}
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return r.checkEnd(p)
}

// bridge sees to it that the changes of a batch follow those before it, but for changes
// that needn't be in the log.
func (r *recovery) bridge(p *changelog.Reader, b []byte) error {
	begins, err := changelog.First(b)
	if err != nil {
		return err
	}
	if expected := max(p.Next(), r.covered+1); begins > expected {
		if err := r.missing(p, expected, begins-1); err != nil {
			return err
		}
	}
	if r.holed {
		return r.hideAll(p, begins-1)
	}
	return nil
}

// missing says that the log lacks changes.
func (r *recovery) missing(p *changelog.Reader, first, last engine.Position) error {
	if !r.holed {
		if err := r.loss("changes %d to %d: filters that may have changed by them return true for every key until they are created again, and filters created by them are gone", first, last); err != nil {
			return err
		}
	}
	return r.hideAll(p, last)
}

// hideAll has all filters that may lack changes up to that position take all keys for theirs.
func (r *recovery) hideAll(p *changelog.Reader, last engine.Position) error {
	r.holed = false
	if err := p.Skip(); err != nil {
		return err
	}
	var hide []uint64
	for cursor := uint64(0); ; {
		cursor = r.engine.ListAll(cursor, 1<<10, func(f *engine.Filter) bool {
			if from, ok := r.copied[f.ID()]; !ok || from < last {
				hide = append(hide, f.ID())
			}
			return true
		})
		if cursor == 0 {
			break
		}
	}
	for _, id := range hide {
		r.hide(id)
	}
	return nil
}

// hide has a filter take all keys for its own.
func (r *recovery) hide(id uint64) {
	r.hidden[id] = true
	r.changed[id] = true
	r.engine.MarkIncomplete(id)
}

// apply has the engine do a change.
func (r *recovery) apply(c *engine.Change) error {
	if from, ok := r.copied[c.Filter]; !ok || c.Position > from {
		r.changed[c.Filter] = true
	}
	if c.Op == engine.OpCreate {
		delete(r.owed, c.Filter)
	}
	err := r.engine.Apply(*c)
	if err == nil {
		return nil
	}
	err = fmt.Errorf("change %d (%s, filter %d): %w", c.Position, changelog.OpName(c.Op), c.Filter, err)
	if !r.lost || !errors.Is(err, umbel.ErrCorrupt) {
		return err
	}
	// What it changes is lost, or not as it was.
	r.hide(c.Filter)
	return r.loss("%w", err)
}

// checkEnd looks whether all is there at the end of the log.
func (r *recovery) checkEnd(p *changelog.Reader) error {
	for _, c := range p.Unfinished() {
		torn := fmt.Sprintf("a change of filter %d (%s), never acknowledged", c.Filter, changelog.OpName(c.Op))
		if r.report.Torn != "" {
			torn = r.report.Torn + "; " + torn
		}
		r.report.Torn = torn
	}
	r.report.Changes, r.report.Digests = p.Counts()
	if p.Next() > 0 {
		r.position = max(r.position, p.Next()-1)
	}
	for id := range r.hidden {
		r.engine.MarkIncomplete(id) // a write that came later may have said that it is complete
	}
	if r.holed {
		if err := r.hideAll(p, math.MaxUint64); err != nil {
			return err
		}
	} else if end := max(p.Next(), r.covered+1); end <= r.single {
		if err := r.missing(p, end, r.single); err != nil {
			return err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(r.owed)) {
		if err := r.loss("filter %q: its copies can't be read, and the log doesn't make it", r.owed[id]); err != nil {
			return err
		}
	}
	return nil
}

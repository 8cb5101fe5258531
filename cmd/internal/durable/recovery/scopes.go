package recovery

import (
	"fmt"

	"github.com/umbel-filters/umbel/cmd/internal/durable/changes"
	"github.com/umbel-filters/umbel/cmd/internal/durable/wal"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
)

// scopes returns the scopes of the batches in a hole, or nil unless they contain everything that the batches
// concern: all are readable, and no changes are missing before or between them.
func (p *Replayer) scopes(h wal.Hole) (list []*changes.Scope) {
	if p.afterGap {
		return nil
	}
	next, covered := p.reader.Next(), p.covered+1
	for _, b := range h.Scopes {
		s, err := changes.ReadScope(b)
		if err != nil || s.First < next || s.First > max(next, covered) {
			return nil
		}
		next = s.Last() + 1
		list = append(list, s)
	}
	return list
}

// lostKnown makes the filters incomplete that lost batches concern, and gives them their names.
func (p *Replayer) lostKnown(scopes []*changes.Scope, why error) error {
	concerned := make(map[uint64]bool)
	for _, s := range scopes {
		for _, id := range s.Filters {
			concerned[id] = true
		}
	}
	if err := p.losses.add("%w; the filters that they change, %d, return true for every key until they are created again", why, len(concerned)); err != nil {
		return err
	}
	for _, s := range scopes {
		if err := p.concern(s); err != nil {
			return err
		}
	}
	return nil
}

// concern applies what the scope of a lost batch contains, and marks the filters that it concerns.
func (p *Replayer) concern(s *changes.Scope) error {
	unfinished, err := p.reader.Jump(s)
	if err != nil {
		return err
	}
	for _, a := range append(s.Acts, unfinished...) {
		if a.Op != engine.OpCreate {
			err = p.apply(&a.Change)
		} else if err = p.engine.ApplyLost(a.Change, a.Kind); err != nil {
			err = fmt.Errorf("change %d (create, filter %d): %w", a.Position, a.Filter, err)
		} else {
			delete(p.missing, a.Filter)
			p.changed[a.Filter] = true
		}
		if err != nil {
			return err
		}
	}
	for _, id := range s.Filters {
		if p.mayLack(id, s.Last()) {
			p.markIncomplete(id)
		}
	}
	return nil
}

// mayLack reports whether a filter may lack changes up to a position that are not in the log.
func (p *Replayer) mayLack(id uint64, last engine.Position) bool {
	copied, ok := p.restored[id]
	return !ok || copied.complete < last
}

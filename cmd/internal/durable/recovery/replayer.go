package recovery

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/changes"
	"github.com/umbel-filters/umbel/cmd/internal/durable/snapshot"
	"github.com/umbel-filters/umbel/cmd/internal/durable/wal"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
)

// Replayer applies the changes of a log to an engine whose filters have been restored, and finds gaps.
type Replayer struct {
	engine *engine.Engine
	losses *losses
	reader changes.Reader
	report Report

	covered  engine.Position        // up to here changes need not be in the log
	reach    engine.Position        // the log must reach up to here
	restored map[uint64]extent      // filters
	missing  map[uint64]engine.Meta // filters that the log must create
	changed  map[uint64]bool        // filters that differ from their last copy
	afterGap bool                   // batches before the next one are lost

	position engine.Position // of the last change
	batch    uint64          // number of the last batch
	open     uint64          // number of the first batch with a part of a change that has not ended; 0: none
}

// extent is how far the copy of a filter reaches.
type extent struct {
	from engine.Position // it contains all changes up to here: engine.Meta.From
	// complete is the position up to which the filter lacks no change. It is greater than from if the
	// filter had not changed when a later snapshot took over the copy.
	complete engine.Position
}

// NewReplayer returns a Replayer for a log that contains all changes, and accepts no loss.
func NewReplayer(e *engine.Engine) *Replayer {
	return newReplayer(e, &losses{o: Options{Log: slog.New(slog.DiscardHandler)}})
}

func newReplayer(e *engine.Engine, l *losses) *Replayer {
	p := &Replayer{
		engine: e, losses: l, restored: make(map[uint64]extent), missing: make(map[uint64]engine.Meta),
		changed: make(map[uint64]bool),
	}
	p.reader = changes.Reader{Limits: Limits(), Each: p.apply}
	return p
}

// begin makes the replay begin where a restorer needs it.
func (p *Replayer) begin(r *restorer) {
	p.covered, p.restored, p.missing = r.covered, r.restored, r.missing
	p.setReach(r.reach)
}

// Begin makes the replay begin after a snapshot.
func (p *Replayer) Begin(s *snapshot.Snapshot) {
	p.covered = s.Covered
	p.setReach(s.Position)
	p.report.Snapshot = s.Time()
}

func (p *Replayer) setReach(reach engine.Position) {
	p.reach, p.position, p.reader.Single = reach, reach, reach
}

// Restored says that a filter was restored from a copy with all changes up to from.
func (p *Replayer) Restored(id uint64, from engine.Position) { p.restored[id] = extent{from, from} }

// replay applies the batches of a log from the number on.
func (p *Replayer) replay(ctx context.Context, l *wal.Log, from uint64) error {
	p.report.Torn = l.Torn()
	_, p.batch = l.Bounds()
	each := func(number uint64, b []byte) error {
		if err := p.Batch(b); err != nil {
			return fmt.Errorf("batch %d: %w", number, err)
		}
		p.noteOpen(number)
		return nil
	}
	var err error
	if p.losses.o.AcceptLoss {
		err = l.ReadOver(ctx, from, each, p.lost)
	} else if err = l.Read(ctx, from, each); errors.Is(err, wal.ErrHole) {
		return p.losses.add("%w", err)
	}
	if err == nil {
		err = p.end()
	}
	if err != nil {
		return err
	}
	return nil
}

// consequence is what follows from lost changes.
const consequence = "filters that the lost changes may have affected return true for every key until they are created " +
	"again, and names of filters that they created are missing"

// lost notes that batches are lost, which why names.
func (p *Replayer) lost(h wal.Hole) error {
	if scopes := p.scopes(h); scopes != nil {
		return p.lostKnown(scopes, h.Err)
	}
	if err := p.losses.add("%w; "+consequence, h.Err); err != nil {
		return err
	}
	p.afterGap = true
	p.losses.missNames(h.Last + 1 - min(h.First, h.Last+1))
	return nil
}

// Batch applies the changes of the next batch.
func (p *Replayer) Batch(b []byte) error {
	p.report.Batches++
	if err := p.checkContinuity(b); err != nil {
		return err
	}
	return p.reader.Batch(b)
}

// noteOpen notes, after a batch, from where on the log has parts of changes that have not ended.
func (p *Replayer) noteOpen(number uint64) {
	switch {
	case !p.reader.Open():
		p.open = 0
	case p.open == 0:
		p.open = number
	}
}

// checkContinuity reports changes that are missing before a batch.
func (p *Replayer) checkContinuity(b []byte) error {
	first, err := changes.First(b)
	if err != nil {
		return err
	}
	if expected := max(p.reader.Next(), p.covered+1); first > expected {
		if err := p.missingChanges(expected, first-1); err != nil {
			return err
		}
	}
	if p.afterGap {
		return p.markAllIncomplete(first - 1)
	}
	return nil
}

// missingChanges reports changes that the log lacks.
func (p *Replayer) missingChanges(first, last engine.Position) error {
	if !p.afterGap {
		if err := p.losses.add("changes %d to %d are missing; "+consequence, first, last); err != nil {
			return err
		}
		p.losses.missNames(0)
	}
	return p.markAllIncomplete(last)
}

// markAllIncomplete marks the filters that may lack changes up to a position.
func (p *Replayer) markAllIncomplete(last engine.Position) error {
	p.afterGap = false
	if err := p.reader.Skip(); err != nil {
		return err
	}
	var lacking []uint64
	for cursor := uint64(0); ; {
		cursor = p.engine.ListAll(cursor, 1<<10, func(f *engine.Filter) bool {
			if p.mayLack(f.ID(), last) {
				lacking = append(lacking, f.ID())
			}
			return true
		})
		if cursor == 0 {
			break
		}
	}
	for _, id := range lacking {
		p.markIncomplete(id)
	}
	return nil
}

// markIncomplete makes queries of a filter return true.
func (p *Replayer) markIncomplete(id uint64) {
	p.changed[id] = true
	p.engine.MarkLost(id)
}

// apply applies a change.
func (p *Replayer) apply(c *engine.Change) error {
	if copied, ok := p.restored[c.Filter]; !ok || c.Position > copied.from {
		p.changed[c.Filter] = true
	}
	if c.Op == engine.OpCreate {
		delete(p.missing, c.Filter)
	}
	err := p.engine.Apply(*c)
	if err == nil {
		return nil
	}
	err = fmt.Errorf("change %d (%s, filter %d): %w", c.Position, changes.OpName(c.Op), c.Filter, err)
	if !p.losses.any || !errors.Is(err, umbel.ErrCorrupt) {
		return err
	}
	// The state that it changes is lost, or is another one.
	p.markIncomplete(c.Filter)
	return p.losses.add("%w", err)
}

// End checks that the log was complete, and completes the filters.
func (p *Replayer) End() (Report, error) {
	err := p.end()
	p.report.count(p.engine)
	return p.report, err
}

func (p *Replayer) end() error {
	if err := p.reader.Flush(); err != nil {
		return err
	}
	if !p.losses.o.Follow {
		p.noteTorn()
	}
	p.report.Changes, p.report.Digests = p.reader.Counts()
	if next := p.reader.Next(); next > 0 {
		p.position = max(p.position, next-1)
	}
	if err := p.checkEnd(); err != nil {
		return err
	}
	if p.losses.any {
		if err := p.engine.DropNameless(func(id uint64, name string) error {
			return p.losses.add("filter %d, from which another took the name %q, and whose own name is lost", id, name)
		}); err != nil {
			return err
		}
	}
	return p.engine.FinishReplay()
}

// noteTorn adds unfinished changes to the report.
func (p *Replayer) noteTorn() {
	for _, c := range p.reader.Unfinished() {
		torn := fmt.Sprintf("a change of filter %d (%s), never acknowledged", c.Filter, changes.OpName(c.Op))
		if p.report.Torn != "" {
			torn = p.report.Torn + "; " + torn
		}
		p.report.Torn = torn
	}
}

// checkEnd reports what is missing at the end of the log.
func (p *Replayer) checkEnd() error {
	if p.afterGap {
		if err := p.markAllIncomplete(math.MaxUint64); err != nil {
			return err
		}
	} else if next := max(p.reader.Next(), p.covered+1); next <= p.reach {
		if err := p.missingChanges(next, p.reach); err != nil {
			return err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(p.missing)) {
		m := p.missing[id]
		if err := p.losses.add("filter %q: its copies cannot be read, and the log does not create it", m.Name); err != nil {
			return err
		}
		if err := restorePlaceholder(p.engine, m); err != nil {
			return fmt.Errorf("filter %q: %w", m.Name, err)
		}
		p.changed[id] = true
	}
	return nil
}

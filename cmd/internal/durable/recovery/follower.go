package recovery

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel/cmd/internal/durable/changes"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
)

// Follower applies the batches of another node to an engine in use, after those of the log of this node.
type Follower struct{ replayer *Replayer }

// Open returns the number of the first batch with a part of a change that has not ended, 0 if there is none.
func (f *Follower) Open() uint64 { return f.replayer.open }

// Batch applies the changes that end in a batch, and calls applied as engine.ApplyLive does. The error wraps ErrLost if changes before
// the batch are missing, or umbel.ErrCorrupt if the batch does not fit the filters. It is called by one goroutine, in the order of the
// numbers. After an error the engine is not to be used.
func (f *Follower) Batch(number uint64, b []byte, applied func(engine.Position)) error {
	p := f.replayer
	first, err := changes.First(b)
	if err != nil {
		return err
	}
	if next := max(p.reader.Next(), p.position+1); first != next {
		return fmt.Errorf("%w: batch %d begins with change %d, want %d", ErrLost, number, first, next)
	}
	p.reader.Single = math.MaxUint64
	p.reader.Each = func(c *engine.Change) error { return p.engine.ApplyLive(*c, applied) }
	if err := p.reader.Batch(b); err != nil {
		return fmt.Errorf("batch %d: %w", number, err)
	}
	p.noteOpen(number)
	return nil
}

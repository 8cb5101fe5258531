package scalable

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/partitioned"
)

// A layer takes at most mostAtOnce times the memory of those before it, or what is
// little anyway: a state from a stranger that says otherwise can't take all memory
// with one key. What Plan makes never comes near, a layer of it is at most 80 times
// the one before: 16 times as long, with 5 slices for 1.
const (
	mostAtOnce = 128
	little     = 64 << 20
)

// tooMuch reports whether a layer is more than may be made at once beside bytes of
// others.
func tooMuch(bytes uint64, l partitioned.Shape) bool { return l.M/8 > max(mostAtOnce*bytes, little) }

// Growth tells what the next new key takes: see [umbel.GrowthForecaster].
func (f *Filter) NextGrowth() (uint64, error) {
	f.row.MustBeMade()
	if !f.row.IsFull() {
		return 0, nil
	}
	next, err := f.next()
	return next.M / 8, err
}

// grow appends an empty layer. The error wraps umbel.ErrLimit where there can't be one;
// the filter is then as it was.
func (f *Filter) grow() error {
	next, err := f.next()
	if err != nil {
		return err
	}
	l, err := partitioned.NewShape(next)
	if err != nil {
		return fmt.Errorf("%w: %w", err, umbel.ErrLimit)
	}
	f.layers = append(f.layers, l)
	f.row.Append(rowLayer(l))
	return nil
}

// next returns the layer to come: the least of the plan's that is larger than all there
// are. The error wraps umbel.ErrLimit where there is none, or none within MaxBytes.
func (f *Filter) next() (partitioned.Shape, error) {
	var none partitioned.Shape
	largest, bytes := f.size()
	i, size := uint64(0), f.shape.Slice
	for size <= largest {
		i, size = i+1, size*f.shape.Growth
	}
	next := f.shape.layer(i)
	if next.Check() != nil {
		return none, fmt.Errorf("scalable: after %d layers there is none larger: begin another filter: %w", len(f.layers), umbel.ErrLimit)
	}
	if tooMuch(bytes, next) {
		return none, fmt.Errorf("scalable: the next layer takes %d bytes, more than %d times the %d that there are: begin another filter: %w", next.M/8, mostAtOnce, bytes, umbel.ErrLimit)
	}
	if f.shape.exceeds(bytes, next) {
		return none, fmt.Errorf("scalable: %d bytes are full, and with the %d of the next layer they are more than the limit of %d: "+
			"raise it, compact the filter, or begin another: %w", bytes, next.M/8, f.shape.MaxBytes, umbel.ErrLimit)
	}
	return next, nil
}

// size returns the cells of the largest slice, and the memory of all layers.
func (f *Filter) size() (largest, bytes uint64) {
	for _, l := range f.layers {
		largest = max(largest, slice(l.Shape()))
		bytes += l.Shape().M / 8
	}
	return largest, bytes
}

// SetMaxBytes sets Shape.MaxBytes, the limit of memory, from now on; 0 is none. What
// is there already stays, even where it is more.
func (f *Filter) SetMaxBytes(limit uint64) {
	f.shape.MaxBytes = limit
}

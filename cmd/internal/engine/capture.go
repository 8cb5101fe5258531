package engine

import "github.com/umbel-filters/umbel"

// Meta is all there is of a filter but its cells.
type Meta struct {
	ID      uint64
	Name    string
	Expires int64
	Hidden  bool
	State   umbel.State // the planes have their size and no words
	// From and To bracket the copy: the cells have all changes up to From, and none
	// behind To. They are equal where the filter stood still while it was copied.
	From, To Position
}

// Segment names a run of bytes of one plane of a filter: the planes of a state and then
// those of its parts, depth first, numbered from 0.
type Segment struct {
	Plane  int
	Offset uint64 // bytes, a multiple of SegmentBytes
}

// SegmentBytes is the size of all segments of a plane but its last.
const SegmentBytes = 512 << 10

// Capture is a copy of a filter being made, piece by piece. Of kinds whose additions only
// set bits (umbel.Variant.Monotone) changes go on meanwhile, and stop only while a single
// piece is copied; changes of others wait until End. Nothing is copied twice.
type Capture struct{ _ int }

// Capture begins to copy the filter. End must be called.
func (f *Filter) Capture() *Capture { panic("todo") }

// Next copies the next segment to buf, which has SegmentBytes of room, and returns the
// filled part; nil bytes are the end.
func (c *Capture) Next(buf []byte) (Segment, []byte) { panic("todo") }

// End ends the copying. ok is false if the filter has meanwhile become of another shape,
// or was deleted: what was copied is then worth nothing.
func (c *Capture) End() (m Meta, ok bool) { panic("todo") }

// Restore puts a filter back from a capture: cell by cell, fill is called for each
// segment and reads its bytes to dst. Apply then gives it the changes behind m.From; those
// up to m.To, which a part of the copy may have, change bits only, and the counts of the
// filter are then set to m.State's. The error wraps umbel.ErrCorrupt, umbel.ErrKind or ErrMemory.
func (e *Engine) Restore(m Meta, fill func(s Segment, dst []byte) error) error { panic("todo") }

package engine

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
)

// Meta is all there is of a filter but its cells.
type Meta struct {
	ID         uint64
	Name       string
	Expires    int64
	Incomplete bool
	State      umbel.State // the planes have their size and no words
	// From and To bracket the copy: the cells have all changes up to From, and none
	// behind To. They are equal where the filter stood still while it was copied.
	From, To Position
}

// Segment names a run of bytes of one plane of a filter: the planes of a state and then
// those of its parts, depth first, numbered from 0.
type Segment struct {
	Array  int
	Offset uint64 // bytes, a multiple of SegmentBytes
}

// SegmentBytes is the size of all segments of a plane but its last.
const SegmentBytes = 512 << 10

// Capture is a copy of a filter being made, piece by piece. Of kinds whose additions only
// set bits (umbel.Kind.Monotone) additions go on meanwhile, and stop only while a single
// piece is copied; changes of other kinds wait until End. Nothing is copied twice. It is
// for one goroutine.
type Capture struct {
	f       *Filter
	frozen  bool        // changes wait
	state   umbel.State // at the beginning
	arrays  []cells.Array
	version uint64
	shape   uint64
	from    Position
	next    Segment
	invalid bool // the copy is worth nothing
}

// Capture begins to copy the filter. End must be called.
func (f *Filter) Capture() *Capture { return f.capture(!f.kind.Monotone) }

// CaptureStill is Capture with changes of any kind waiting until End: for a filter that
// changes its shape so often that no copy beside changes comes to an end.
func (f *Filter) CaptureStill() *Capture { return f.capture(true) }

func (f *Filter) capture(still bool) *Capture {
	c := &Capture{f: f}
	if f.lock() != nil {
		c.invalid = true
		return c
	}
	defer f.changes.Unlock()
	if c.frozen = still || f.incomplete.Load(); c.frozen {
		f.frozen = make(chan struct{})
	}
	c.state = f.filter.State()
	c.arrays = arraysOf(nil, c.state)
	c.version, c.shape = f.version.Load(), f.shape.Load()
	c.from = f.engine.lastPosition()
	return c
}

// Next copies the next segment to buf, which has SegmentBytes of room, and returns the
// filled part; nil bytes are the end.
func (c *Capture) Next(buf []byte) (Segment, []byte) {
	for !c.invalid && c.next.Array < len(c.arrays) {
		words := c.arrays[c.next.Array].Words[c.next.Offset/8:]
		if len(words) == 0 {
			c.next = Segment{Array: c.next.Array + 1}
			continue
		}
		at, words := c.next, words[:min(len(words), SegmentBytes/8)]
		if c.copy(buf, words); c.invalid {
			break
		}
		c.next.Offset += SegmentBytes
		if len(words) < SegmentBytes/8 || at.Offset+SegmentBytes == c.arrays[at.Array].Bytes() {
			c.next = Segment{Array: at.Array + 1}
		}
		return at, buf[:8*len(words)]
	}
	return Segment{}, nil
}

// copy copies words while nothing changes them.
func (c *Capture) copy(buf []byte, words []uint64) {
	if !c.frozen {
		c.f.changes.Lock()
		defer c.f.changes.Unlock()
		if c.f.shape.Load() != c.shape {
			c.invalid = true
			return
		}
	}
	wordsToBytes(buf, words)
}

// End ends the copying. ok is false if the filter has meanwhile become of another shape,
// or was deleted, or not all of it was copied: what was is then worth nothing.
func (c *Capture) End() (m Meta, ok bool) {
	f := c.f
	f.changes.Lock()
	defer f.changes.Unlock()
	if c.frozen {
		close(f.frozen)
		f.frozen = nil
		c.frozen = false
	}
	if c.invalid || f.retired || f.shape.Load() != c.shape || c.next.Array < len(c.arrays) {
		c.invalid = true
		return Meta{}, false
	}
	m = Meta{ID: f.id, Name: f.Name(), Expires: f.expires.Load(), Incomplete: f.incomplete.Load(), From: c.from, To: c.from}
	if f.version.Load() != c.version {
		c.state = f.filter.State()
		m.To = f.engine.lastPosition()
		if !sameSizes(arraysOf(nil, c.state), c.arrays) {
			c.invalid = true
			return Meta{}, false
		}
	}
	m.State = withoutWords(c.state)
	return m, true
}

// withoutWords returns s with planes of their sizes, and nothing in them.
func withoutWords(s umbel.State) umbel.State {
	planes := arraysOf(nil, s)
	for i := range planes {
		planes[i].Words = nil
	}
	return withArrays(s, planes)
}

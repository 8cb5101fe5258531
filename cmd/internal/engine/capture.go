package engine

import (
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/cmd/internal/durable/statecode"
)

// Meta is a filter without its cells.
type Meta struct {
	ID         uint64
	Name       string
	Expires    int64
	Incomplete bool
	Lost       bool        // see Filter.Lost; Incomplete is true then
	State      umbel.State // its arrays have no words
	// The cells contain all changes up to From, and none after To. The positions are equal if
	// changes waited while the filter was copied.
	From, To Position
}

// Segment names a run of bytes of an array of a filter. Arrays are numbered from 0: those of the
// state, then those of its parts, depth first.
type Segment struct {
	Array  int
	Offset uint64 // bytes, a multiple of SegmentBytes
}

// SegmentBytes is the size of every segment of an array except the last.
const SegmentBytes = 512 << 10

// Capture copies a filter piece by piece. If additions of the kind only set bits
// (umbel.Kind.Monotone), they continue and wait only while a piece is copied. Other changes wait
// until End. Each piece is copied once. A Capture is used by one goroutine.
type Capture struct {
	f       *Filter
	still   bool        // changes waited from the beginning, or frozen
	frozen  bool        // changes wait until End
	state   umbel.State // at the beginning
	arrays  []cells.Array
	version uint64
	shape   uint32
	from    Position
	next    Segment
	invalid bool      // the copy is useless
	err     error     // why it is useless, if not because of a change; wraps ErrFault
	added   *recorder // the digests that are added until End; nil: they are not recorded
}

// Capture begins a copy of the filter. It does not wait for a change that is computed aside, which
// makes the copy useless when it is made. The caller must call End.
func (f *Filter) Capture() *Capture { return f.captureWith(nil) }

// captureWith is Capture with a recorder, or nil.
func (f *Filter) captureWith(r *recorder) *Capture {
	c := &Capture{f: f}
	if !f.kind.Monotone || f.is(flagIncomplete) {
		if _, err := f.freeze(); err != nil {
			c.invalid = true
			return c
		}
		c.still, c.frozen = true, true
	}
	c.fail(c.begin(r))
	return c
}

// CaptureStill is Capture, but it waits for changes, and all changes wait until End. It is for a
// filter whose shape changes so often that Capture does not succeed.
func (f *Filter) CaptureStill() *Capture {
	c := &Capture{f: f}
	if f.lock() != nil {
		c.invalid = true
		return c
	}
	f.addReader()
	f.changes.Unlock()
	c.still, c.frozen = true, true
	c.fail(c.begin(nil))
	return c
}

// begin notes the state of the filter, and makes r record what is added, unless it is nil.
func (c *Capture) begin(r *recorder) (err error) {
	defer c.f.CatchFault(&err)
	g := c.note(r)
	if c.invalid {
		return nil
	}
	if c.still { // a kind may compute its arrays, which takes long, and changes of the cells wait
		c.state = g.State()
	}
	c.arrays = c.state.AllArrays()
	return nil
}

// note notes what identifies the state of the filter, and the state itself if changes go on.
func (c *Capture) note(r *recorder) umbel.Filter {
	f := c.f
	f.changes.Lock()
	defer f.changes.Unlock()
	if c.invalid = f.is(flagRetired); c.invalid {
		return nil
	}
	if !c.still {
		c.state = f.filter.State()
	}
	c.version, c.shape = f.Version(), f.shape.Load()
	c.from = f.engine.lastPosition()
	if r != nil {
		c.added = r
		x := f.ownExtra()
		x.recorders = append(x.recorders, r)
	}
	return f.filter
}

// fail makes the copy useless if err is not nil.
func (c *Capture) fail(err error) {
	if err != nil {
		c.invalid, c.err = true, err
	}
}

// Err returns an error wrapping ErrFault if the copy is useless because the filter cannot be read. A later attempt would
// fail, too.
func (c *Capture) Err() error { return c.err }

// Next copies the next segment to buf, which has room for SegmentBytes, and returns the filled
// part, or nil after the last segment.
func (c *Capture) Next(buf []byte) (Segment, []byte) {
	at, n := c.copyNext(func(_ Segment, words []uint64) { statecode.PutWords(buf, words) })
	if n == 0 {
		return Segment{}, nil
	}
	return at, buf[:8*n]
}

// copyNext calls to with the words of the next segment, while no change runs. It returns the segment and
// the number of words, 0 after the last segment.
func (c *Capture) copyNext(to func(at Segment, words []uint64)) (at Segment, n int) {
	at, n, err := c.tryNext(to)
	c.fail(err)
	return at, n
}

func (c *Capture) tryNext(to func(at Segment, words []uint64)) (at Segment, n int, err error) {
	defer c.f.CatchFault(&err)
	for !c.invalid && c.next.Array < len(c.arrays) {
		words := c.arrays[c.next.Array].Words[c.next.Offset/8:]
		if len(words) == 0 {
			c.next = Segment{Array: c.next.Array + 1}
			continue
		}
		at, words = c.next, words[:min(len(words), SegmentBytes/8)]
		if c.copy(at, words, to); c.invalid {
			break
		}
		c.next.Offset += SegmentBytes
		if len(words) < SegmentBytes/8 || at.Offset+SegmentBytes == c.arrays[at.Array].Bytes() {
			c.next = Segment{Array: at.Array + 1}
		}
		return at, len(words), nil
	}
	return Segment{}, 0, nil
}

// copy calls to while no change runs.
func (c *Capture) copy(at Segment, words []uint64, to func(Segment, []uint64)) {
	if !c.frozen {
		c.f.changes.Lock()
		defer c.f.changes.Unlock()
	}
	if c.f.shape.Load() != c.shape { // a frozen filter can be deleted
		c.invalid = true
		return
	}
	to(at, words)
}

// End ends the copy. ok is false, and the copy is useless, if the filter was deleted, its shape
// changed, a segment is missing, or the filter cannot be read: see Err.
func (c *Capture) End() (m Meta, ok bool) {
	m, err := c.end()
	c.fail(err)
	return m, !c.invalid
}

func (c *Capture) end() (m Meta, err error) {
	f := c.f
	defer f.CatchFault(&err)
	f.changes.Lock()
	defer f.changes.Unlock()
	c.letGo()
	c.invalid = c.invalid || f.is(flagRetired) || f.shape.Load() != c.shape || c.next.Array < len(c.arrays)
	if c.invalid {
		return Meta{}, nil
	}
	m = Meta{ID: f.id, Name: f.Name(), Expires: f.Expires(), Incomplete: f.Incomplete(), Lost: f.Lost(), From: c.from, To: c.from}
	if f.Version() != c.version {
		m.To = f.engine.lastPosition()
	}
	if m.To != m.From && !c.still {
		c.state = f.filter.State()
		if c.invalid = !sameSizes(c.state.AllArrays(), c.arrays); c.invalid {
			return Meta{}, nil
		}
	}
	m.State = statecode.WithoutWords(c.state)
	return m, nil
}

// close ends a copy that is not needed any more, if End was not called.
func (c *Capture) close() {
	c.f.changes.Lock()
	defer c.f.changes.Unlock()
	c.letGo()
}

// letGo lets changes continue and ends the recording of additions. The caller holds f.changes.
func (c *Capture) letGo() {
	if c.frozen {
		c.f.thaw()
		c.frozen = false
	}
	if c.added != nil {
		x := c.f.ownExtra()
		x.recorders = slices.DeleteFunc(x.recorders, func(r *recorder) bool { return r == c.added })
		c.added = nil
	}
}

package engine

import (
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
)

// replay is what a filter is while a journal is read.
type replay struct {
	from, to Position     // of its capture: see Meta
	claim    Position     // when it got its name
	torn     *umbel.State // its numbers at to, while its cells aren't all those of to
	stale    bool         // what it takes is to be counted again
}

// from returns the position up to which the filter has all changes.
func (f *Filter) from() Position {
	if f.replay == nil {
		return 0
	}
	return f.replay.from
}

func (f *Filter) replayed() *replay {
	if f.replay == nil {
		f.replay = new(replay)
	}
	return f.replay
}

// Restore puts a filter back from a capture: segment by segment, fill is called and reads
// all bytes of dst. Apply then gives it the changes behind m.From; those up to m.To, of
// which the copy may have a part, set bits only, and with the first behind m.To, or with
// Settle, the filter's numbers are set to m.State's. The memory limit isn't looked at, as
// by Apply: filters that were never there together may be, until the journal is read. The
// error wraps umbel.ErrCorrupt or umbel.ErrKind, or is that of fill. It may be called from
// many goroutines.
func (e *Engine) Restore(m Meta, fill func(s Segment, dst []byte) error) error {
	if _, err := e.find(m.State.Kind); err != nil {
		return err
	}
	if m.From > m.To {
		return fmt.Errorf("filter %q was copied from %d to %d: %w", m.Name, m.From, m.To, umbel.ErrCorrupt)
	}
	planes := arraysOf(nil, m.State)
	bytes, err := arraysSize(planes)
	if err != nil {
		return fmt.Errorf("filter %q: %w", m.Name, err)
	}
	n := footprint(m.Name, bytes)
	e.memory.used.Add(n)
	f, err := e.rebuild(m, planes, fill)
	if err == nil {
		f.bytes.Store(n)
		err = e.addRestored(f)
	}
	if err != nil {
		e.memory.release(n)
		return fmt.Errorf("filter %q: %w", m.Name, err)
	}
	return nil
}

// refill makes the filter of a capture, in no directory yet.
func (e *Engine) rebuild(m Meta, planes []cells.Array, fill func(s Segment, dst []byte) error) (*Filter, error) {
	if err := readArrays(planes, fill); err != nil {
		return nil, err
	}
	g, err := e.kinds.Open(withArrays(m.State, planes))
	if err != nil {
		return nil, err
	}
	f, err := e.newFilter(m.ID, m.Name, g)
	if err != nil {
		return nil, err
	}
	f.expires.Store(m.Expires)
	f.incomplete.Store(m.Incomplete)
	f.last.Store(uint64(m.To))
	f.replay = &replay{from: m.From, to: m.To, claim: m.To}
	if m.From < m.To && f.kind.Monotone {
		f.replay.torn = &m.State
		stopGrowth(g)
	}
	return f, nil
}

// seat puts a restored filter among the others.
func (e *Engine) addRestored(f *Filter) error {
	e.directory.Lock()
	defer e.directory.Unlock()
	if e.byID(f.id) != nil {
		return fmt.Errorf("there is one with the number %d already: %w", f.id, umbel.ErrCorrupt)
	}
	e.lastID = max(e.lastID, f.id)
	e.index.Lock()
	e.roster.add(f)
	if f.expires.Load() != 0 {
		e.expiring[f] = struct{}{}
	}
	e.index.Unlock()
	e.claim(f)
	return nil
}

// sizeOf returns the bytes of planes that have no words.
func arraysSize(planes []cells.Array) (uint64, error) {
	total := uint64(0)
	for _, p := range planes {
		words, err := cells.WordsFor(p.Len, max(p.Width, 1))
		if err != nil {
			return 0, fmt.Errorf("%w: %w", err, umbel.ErrCorrupt)
		}
		if total += 8 * words; total > 1<<56 {
			return 0, fmt.Errorf("planes of more than 2^56 bytes: %w", umbel.ErrCorrupt)
		}
	}
	return total, nil
}

// read gives planes their words, and has fill read them.
func readArrays(planes []cells.Array, fill func(s Segment, dst []byte) error) error {
	room := segments.Get().(*[SegmentBytes]byte)
	defer segments.Put(room)
	for i, p := range planes {
		a, err := cells.New(p.Len, max(p.Width, 1))
		if err != nil {
			return fmt.Errorf("%w: %w", err, umbel.ErrCorrupt)
		}
		for from := 0; from < len(a.Words); from += SegmentBytes / 8 {
			words := a.Words[from:min(len(a.Words), from+SegmentBytes/8)]
			dst := room[:8*len(words)]
			if err := fill(Segment{Array: i, Offset: 8 * uint64(from)}, dst); err != nil {
				return err
			}
			for i := range words {
				words[i] = binary.LittleEndian.Uint64(dst[8*i:])
			}
		}
		a.Width = p.Width
		planes[i] = a
	}
	return nil
}

var segments = sync.Pool{New: func() any { return new([SegmentBytes]byte) }}

// stopGrowth leaves a filter no room to grow: see umbel.Kind.Monotone.
func stopGrowth(f umbel.Filter) {
	if l, ok := f.(growthLimiter); ok {
		l.SetMaxBytes(1)
	}
}

// settle makes a filter that was torn, and has all additions up to the end of its
// capture, the one that it was then. f.changes is held.
func (f *Filter) finishReplay() error {
	r := f.replay
	if r == nil || r.torn == nil {
		return nil
	}
	planes := arraysOf(nil, f.filter.State())
	if !sameSizes(planes, arraysOf(nil, *r.torn)) {
		return fmt.Errorf("planes of other sizes than when the filter was copied")
	}
	g, err := f.open(withArrays(*r.torn, planes))
	if err != nil {
		return err
	}
	f.cells.Lock()
	f.filter = liftGrowthLimit(g)
	f.cells.Unlock()
	r.torn = nil
	return nil
}

// Hide hides a filter of which changes or cells are lost, if it is there: see Filter.Hidden.
// For who reads a journal.
func (e *Engine) MarkIncomplete(id uint64) {
	e.directory.Lock()
	defer e.directory.Unlock()
	if f := e.byID(id); f != nil {
		f.incomplete.Store(true)
		f.version.Add(1)
	}
}

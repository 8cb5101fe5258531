package engine

import (
	"fmt"
	"sync"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/cmd/internal/durable/statecode"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// replay is the state of a filter during the replay of a journal.
type replay struct {
	from, to Position     // of its capture: see Meta
	claim    Position     // when it claimed its name
	torn     *umbel.State // its state at to, until its cells are those of to
	stale    bool         // recount its memory at the end
}

// from returns the position up to which the filter contains all changes.
func (f *Filter) from() Position {
	if r := f.extra().replay; r != nil {
		return r.from
	}
	return 0
}

func (f *Filter) replayed() *replay {
	x := f.ownExtra()
	if x.replay == nil {
		x.replay = new(replay)
	}
	return x.replay
}

// Restore restores a filter from a capture. It calls fill for each segment; fill must fill dst
// completely. Apply then adds the changes after m.From. A copy may contain parts of the changes
// up to m.To, which only set bits; the filter's numbers are set to those of m.State with the
// first change after m.To, or by FinishReplay. Restore and Apply ignore the memory limit. Restore
// returns the error of fill, or one wrapping umbel.ErrCorrupt or umbel.ErrKind, without the name of the
// filter. It is safe for concurrent use.
func (e *Engine) Restore(m Meta, fill func(s Segment, dst []byte) error) error {
	if _, err := e.find(m.State.Kind); err != nil {
		return err
	}
	if m.From > m.To {
		return sentinel.Errorf(umbel.ErrCorrupt, "captured from position %d to %d", m.From, m.To)
	}
	arrays := m.State.AllArrays()
	bytes, err := arraysSize(arrays)
	if err != nil {
		return err
	}
	n := footprint(m.Name, bytes)
	e.memory.used.Add(n)
	f, err := e.rebuild(m, arrays, fill)
	if err == nil {
		f.bytes.Store(n)
		err = e.addRestored(f)
	}
	if err != nil {
		e.memory.release(n)
		return err
	}
	return nil
}

// rebuild makes the filter of a capture. It is not in the index yet.
func (e *Engine) rebuild(m Meta, arrays []cells.Array, fill func(s Segment, dst []byte) error) (*Filter, error) {
	if err := readArrays(arrays, fill); err != nil {
		return nil, err
	}
	g, err := e.kinds.Open(m.State.WithArrays(arrays))
	if err != nil {
		return nil, err
	}
	f, err := e.newFilter(m.ID, m.Name, g, m.State)
	if err != nil {
		return nil, err
	}
	f.storeExpires(m.Expires)
	f.set(flagIncomplete, m.Incomplete)
	if m.Lost {
		f.setLost()
	}
	f.last.Store(uint64(m.To))
	f.ownExtra().replay = &replay{from: m.From, to: m.To, claim: m.To}
	if m.From < m.To && f.kind.Monotone {
		f.replayed().torn = &m.State
		stopGrowth(g)
	}
	return f, nil
}

// addRestored adds a restored filter to the index.
func (e *Engine) addRestored(f *Filter) error {
	e.directory.Lock()
	defer e.directory.Unlock()
	if e.byID(f.id) != nil {
		return sentinel.Errorf(umbel.ErrCorrupt, "duplicate ID %d", f.id)
	}
	storeMax(&e.lastID, f.id)
	e.addReplayed(f)
	return nil
}

// addReplayed adds a filter to the index during the replay of a journal.
func (e *Engine) addReplayed(f *Filter) {
	e.index.Lock()
	e.roster.add(f)
	if f.Expires() != 0 {
		e.expiring[f] = struct{}{}
	}
	if f.Lost() {
		e.lost[f] = struct{}{}
	}
	e.notePace(f)
	e.index.Unlock()
	e.claim(f)
}

// arraysSize returns the size in bytes of arrays that have no words.
func arraysSize(arrays []cells.Array) (uint64, error) {
	total := uint64(0)
	for _, p := range arrays {
		words, err := cells.WordsFor(p.Len, p.Width)
		if err != nil {
			return 0, sentinel.Wrap(umbel.ErrCorrupt, err)
		}
		if total += 8 * words; total > 1<<56 {
			return 0, sentinel.Errorf(umbel.ErrCorrupt, "arrays of more than 2^56 bytes")
		}
	}
	return total, nil
}

// readArrays allocates the words of arrays and calls fill for each segment.
func readArrays(arrays []cells.Array, fill func(s Segment, dst []byte) error) error {
	room := segments.Get().(*[SegmentBytes]byte)
	defer segments.Put(room)
	for i, p := range arrays {
		a, err := cells.New(p.Len, p.Width)
		if err != nil {
			return sentinel.Wrap(umbel.ErrCorrupt, err)
		}
		for from := 0; from < len(a.Words); from += SegmentBytes / 8 {
			words := a.Words[from:min(len(a.Words), from+SegmentBytes/8)]
			dst := room[:8*len(words)]
			if err := fill(Segment{Array: i, Offset: 8 * uint64(from)}, dst); err != nil {
				return err
			}
			statecode.Words(words, dst)
		}
		arrays[i] = a
	}
	return nil
}

var segments = sync.Pool{New: func() any { return new([SegmentBytes]byte) }}

// stopGrowth prevents a filter from growing: see umbel.Kind.Monotone.
func stopGrowth(f umbel.Filter) {
	if l, ok := f.(growthLimiter); ok {
		l.SetMaxBytes(1)
	}
}

// finishReplay completes a filter that changed while it was captured, after all additions up to
// the end of its capture were applied. The caller holds f.changes.
func (f *Filter) finishReplay() error {
	r := f.extra().replay
	if r == nil || r.torn == nil || f.Lost() {
		return nil
	}
	arrays := f.filter.State().AllArrays()
	if !sameSizes(arrays, r.torn.AllArrays()) {
		return fmt.Errorf("array sizes differ from those of the capture")
	}
	g, err := f.open(r.torn.WithArrays(arrays))
	if err != nil {
		return err
	}
	f.cells.Lock()
	f.filter = liftGrowthLimit(g)
	f.cells.Unlock()
	r.torn = nil
	return nil
}

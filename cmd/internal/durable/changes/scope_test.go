package changes

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/wire"
	"pgregory.net/rapid"
)

// actOf returns what a scope has of a change, if it has something.
func actOf(c engine.Change) (a Act, ok bool) {
	switch c.Op {
	case engine.OpDelete, engine.OpRename, engine.OpExpire, engine.OpFlush, engine.OpMissNames:
		return Act{Change: c}, true
	case engine.OpCreate:
		kind := c.State.Kind
		c.State, c.Number, c.Last = nil, 0, false
		return Act{c, kind}, true
	}
	return a, false
}

// The scopes of batches have the filter of each change, what the changes do to names, and where they are.
func TestScopesComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		changes := rapid.SliceOfN(rapid.Custom(drawChange), 1, 12).Draw(t, "changes")
		for i := range changes {
			changes[i].Position = engine.Position(i + 1)
			if len(changes[i].Name) > maxPiece {
				changes[i].Name = "short"
			}
		}
		next := engine.Position(1)
		var scopes []*Scope
		for _, b := range batchesOf(t, changes) {
			s, err := ReadScope(b.AppendScope(nil))
			if err != nil {
				t.Fatal(err)
			}
			if s.First != next || s.Last() != b.Last || !slices.IsSorted(s.Filters) {
				t.Errorf("scope %+v of a batch from %d to %d", s, b.First, b.Last)
			}
			next = s.Last() + 1
			scopes = append(scopes, s)
		}
		for _, c := range changes {
			s := scopes[slices.IndexFunc(scopes, func(s *Scope) bool { return c.Position <= s.Last() })]
			if c.Filter != 0 && !slices.Contains(s.Filters, c.Filter) {
				t.Errorf("change %d of filter %d: filters %d", c.Position, c.Filter, s.Filters)
			}
			want, ok := actOf(c)
			if !ok {
				continue
			}
			if !slices.ContainsFunc(scopes, func(s *Scope) bool {
				return slices.ContainsFunc(s.Acts, func(a Act) bool {
					if a.Op == engine.OpCreate { // in each batch with a part of it, at the next position
						a.Position = want.Position
					}
					return reflect.DeepEqual(a, want)
				})
			}) {
				t.Errorf("no scope has %+v", want)
			}
		}
	})
}

// A batch that concerns very many filters has no scope.
func TestScopeOfManyFilters(t *testing.T) {
	for n, want := range map[int]bool{maxConcerned: true, maxConcerned + 1: false} {
		b := &Batch{Bytes: make([]byte, 0, MaxBatch)}
		b.Start(1, true)
		for i := range n {
			b.Append(&engine.Change{Op: engine.OpClear, Filter: uint64(i + 1)})
		}
		scope := b.AppendScope(nil)
		if len(scope) > 0 != want {
			t.Errorf("%d filters: a scope of %d bytes", n, len(scope))
		}
		b.Start(2, false)
		for i := range 4 * maxConcerned { // of few filters, in turn
			b.Append(&engine.Change{Op: engine.OpClear, Filter: uint64(i%3 + 1)})
		}
		s, err := ReadScope(b.AppendScope(nil))
		if err != nil || !slices.Equal(s.Filters, []uint64{1, 2, 3}) || s.First != 2 || s.Changes != 4*maxConcerned {
			t.Errorf("scope %+v, %v", s, err)
		}
	}
}

// A change whose end follows a lost batch is passed over, and later positions are right.
func TestJump(t *testing.T) {
	long := engine.Change{Position: 2, Op: engine.OpWrite, Filter: 1, Data: make([]byte, 2<<20)}
	batches := batchesOf(t, []engine.Change{
		{Position: 1, Op: engine.OpClear, Filter: 2}, long, {Position: 3, Op: engine.OpClear, Filter: 2},
	})
	for lost := range len(batches) - 1 {
		var got []engine.Position
		r := Reader{Limits: wire.NoLimits, Single: math.MaxUint64, Each: func(c *engine.Change) error {
			got = append(got, c.Position)
			return nil
		}}
		for i, b := range batches {
			if i != lost {
				if err := r.Batch(b.Bytes); err != nil {
					t.Fatal(err)
				}
				continue
			}
			s, err := ReadScope(b.AppendScope(nil))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.Jump(s); err != nil {
				t.Fatal(err)
			}
		}
		want := []engine.Position{1, 3}
		if lost == 0 {
			want = want[1:]
		}
		if !slices.Equal(got, want) || r.Next() != 4 {
			t.Errorf("batch %d of %d lost: changes %d, want %d; the next is %d", lost, len(batches), got, want, r.Next())
		}
	}
}

func FuzzScope(f *testing.F) {
	s := umbel.State{Kind: "bloom"}
	for _, b := range batchesOf(f, []engine.Change{
		{Position: 1, Op: engine.OpCreate, Filter: 1, Name: "a", State: &s},
		{Position: 2, Op: engine.OpRename, Filter: 1, Name: "b"},
		{Position: 3, Op: engine.OpExpire, Filter: 1, Number: 9},
		{Position: 4, Op: engine.OpFlush},
	}) {
		f.Add(b.AppendScope(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := ReadScope(b)
		if err != nil {
			if !errors.Is(err, umbel.ErrCorrupt) && !errors.Is(err, umbel.ErrLimit) {
				t.Errorf("error %v", err)
			}
			return
		}
		if len(s.Filters)+len(s.Acts) > len(b) {
			t.Errorf("%d bytes became %d filters and %d acts", len(b), len(s.Filters), len(s.Acts))
		}
	})
}

package changes

import (
	"bytes"
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/cmd/internal/durable/statecode"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/hashtree"
)

// tester is a test, also one of package rapid.
type tester interface {
	Helper()
	Errorf(string, ...any)
}

// encode returns the batches of changes, and checks their positions.
func encode(t tester, changes []engine.Change) (coded [][]byte) {
	t.Helper()
	for _, b := range batchesOf(t, changes) {
		coded = append(coded, b.Bytes)
	}
	return coded
}

func batchesOf(t tester, changes []engine.Change) []*Batch {
	t.Helper()
	var batches []*Batch
	room := func(n int) *Batch {
		if last := len(batches) - 1; last >= 0 && len(batches[last].Bytes)+n <= MaxBatch {
			return batches[last]
		}
		first := engine.Position(1)
		if last := len(batches) - 1; last >= 0 {
			first = batches[last].Last + 1
		}
		b := &Batch{Bytes: make([]byte, 0, MaxBatch)}
		b.Start(first, len(batches) == 0)
		batches = append(batches, b)
		return b
	}
	for i := range changes {
		c := changes[i]
		if IsLong(&c) {
			if err := WriteLong(&c, func(n int, write func(*Batch)) error { write(room(n)); return nil }); err != nil {
				t.Errorf("change %d: %v", i, err)
			}
			room(EndBytes).End(c.Filter)
		} else {
			room(MaxBytes(&c)).Append(&c)
		}
		if pos := batches[len(batches)-1].Last; pos != c.Position {
			t.Errorf("change %d got position %d, want %d", i, pos, c.Position)
		}
	}
	for _, b := range batches {
		if len(b.Bytes) > MaxBatch || cap(b.Bytes) != MaxBatch {
			t.Errorf("a batch of %d bytes, with room for %d", len(b.Bytes), cap(b.Bytes))
		}
	}
	return batches
}

func decode(batches [][]byte, single engine.Position, l wire.Limits) (changes []engine.Change, err error) {
	r := &Reader{Limits: l, Single: single, Each: func(c *engine.Change) error {
		keep := *c
		keep.Digests = append([]umbel.Digest(nil), c.Digests...)
		keep.Data = bytes.Clone(c.Data)
		changes = append(changes, keep)
		return nil
	}}
	for _, b := range batches {
		if err := r.Batch(b); err != nil {
			return changes, err
		}
	}
	return changes, r.Flush()
}

func drawState(t *rapid.T, depth int) umbel.State {
	s := umbel.State{Kind: rapid.SampledFrom([]string{"bloom", "window", "example.com/x"}).Draw(t, "kind")}
	if rapid.Bool().Draw(t, "seeded") {
		s.Hasher = umbel.Hasher{Alg: umbel.SipHash, Seed: fixture.Seed(rapid.Uint64().Draw(t, "lo"), 7)}
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "params") {
		p := umbel.Param{Name: strings.Repeat("p", i+1), Value: umbel.Uint(rapid.Uint64().Draw(t, "value"))}
		if rapid.Bool().Draw(t, "float") {
			p.Value = umbel.Float(rapid.Float64().Draw(t, "float"))
		}
		s.Params = append(s.Params, p)
	}
	for range rapid.IntRange(0, 2).Draw(t, "arrays") {
		width := uint(1) << rapid.IntRange(0, 6).Draw(t, "width")
		p, err := cells.New(rapid.SampledFrom([]uint64{0, 1, 100, 40000}).Draw(t, "len"), width)
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(0, 3).Draw(t, "set") {
			if p.Len > 0 {
				p.Words[rapid.IntRange(0, len(p.Words)-1).Draw(t, "word")] |= 1
			}
		}
		s.Arrays = append(s.Arrays, p)
	}
	if depth > 1 {
		for range rapid.IntRange(0, 2).Draw(t, "parts") {
			s.Parts = append(s.Parts, drawState(t, depth-1))
		}
	}
	return s
}

func drawDigests(t *rapid.T, max int) []umbel.Digest {
	ds := make([]umbel.Digest, rapid.IntRange(1, max).Draw(t, "digests"))
	for i := range ds {
		ds[i] = umbel.Digest{H1: rapid.Uint64().Draw(t, "h1"), H2: uint64(i)}
	}
	return ds
}

// drawChange draws a change with only those fields set that its op has.
func drawChange(t *rapid.T) engine.Change {
	c := engine.Change{Op: engine.Op(rapid.IntRange(1, 17).Draw(t, "op")), Filter: rapid.Uint64Range(1, 3).Draw(t, "filter")}
	switch c.Op {
	case engine.OpCreate, engine.OpReplace:
		s := drawState(t, 3)
		c.State = &s
		if c.Op == engine.OpCreate {
			c.Name, c.Number = "n", uint64(rapid.IntRange(0, 1).Draw(t, "hidden"))
			c.Last = rapid.Bool().Draw(t, "lost")
		}
	case engine.OpRename:
		c.Name = strings.Repeat("x", rapid.SampledFrom([]int{1, 300, maxPiece + 1, 1 << 20}).Draw(t, "name"))
	case engine.OpExpire, engine.OpFold, engine.OpUnfold, engine.OpAdvance:
		c.Number = rapid.Uint64().Draw(t, "number")
	case engine.OpAdd, engine.OpRemove:
		c.Digests = drawDigests(t, 4)
	case engine.OpWrite:
		c.Part, c.Array, c.Number, c.Last = rapid.IntRange(-1, 9).Draw(t, "part"), 3, 1<<40, rapid.Bool().Draw(t, "last")
		c.Data = bytes.Repeat([]byte{7}, rapid.SampledFrom([]int{1, maxPiece, maxPiece + 1, 2 << 20}).Draw(t, "data"))
	case engine.OpMissNames:
		c.Filter, c.Number, c.Count = 0, rapid.Uint64().Draw(t, "since"), 5
	case engine.OpFlush, engine.OpAcknowledge:
		c.Filter = 0
	}
	return c
}

func TestChangesComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		changes := rapid.SliceOfN(rapid.Custom(drawChange), 1, 12).Draw(t, "changes")
		for i := range changes {
			changes[i].Position = engine.Position(i + 1)
		}
		got, err := decode(encode(t, changes), math.MaxUint64, wire.NoLimits)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(changes) {
			t.Fatalf("%d changes became %d", len(changes), len(got))
		}
		for i, want := range changes {
			got := got[i]
			if (got.State == nil) != (want.State == nil) || want.State != nil && hashtree.Identify(*got.State) != hashtree.Identify(*want.State) {
				t.Errorf("change %d: another state", i)
			}
			got.State, want.State = nil, nil
			if !reflect.DeepEqual(got, want) {
				t.Errorf("change %d: got %.200v, want %.200v", i, got, want)
			}
		}
	})
}

// Additions that follow each other come as one, but not those that a copy may have.
func TestAdditionsAreJoined(t *testing.T) {
	var changes []engine.Change
	for i := range 6 {
		changes = append(changes, engine.Change{Position: engine.Position(i + 1), Op: engine.OpAdd, Filter: 1, Digests: []umbel.Digest{{H1: uint64(i)}}})
	}
	for single, want := range map[engine.Position][]engine.Position{
		0: {6}, 1: {1, 6}, 3: {1, 2, 3, 6}, 5: {1, 2, 3, 4, 5, 6}, 6: {1, 2, 3, 4, 5, 6},
	} {
		got, err := decode(encode(t, changes), single, wire.NoLimits)
		if err != nil {
			t.Fatal(err)
		}
		var positions []engine.Position
		sum := 0
		for _, c := range got {
			positions = append(positions, c.Position)
			sum += len(c.Digests)
		}
		if !reflect.DeepEqual(positions, want) || sum != 6 {
			t.Errorf("one by one up to %d: positions %v, want %v", single, positions, want)
		}
	}
}

// A new filter takes no more bytes of the log for being large.
func TestEmptyCellsCostNothing(t *testing.T) {
	s := umbel.State{Kind: "bloom", Arrays: []cells.Array{{Len: 1 << 33, Width: 1}}} // no words: all zero
	batches := encode(t, []engine.Change{{Position: 1, Op: engine.OpCreate, Filter: 1, Name: "a", State: &s}})
	if len(batches) != 1 || len(batches[0]) > 64 {
		t.Fatalf("%d batches, the first of %d bytes", len(batches), len(batches[0]))
	}
	if _, err := decode(batches, 0, wire.Limits{Bytes: 1 << 20}); err == nil {
		t.Error("an array of 1 GiB was made where 1 MiB is allowed")
	}
}

// What was not finished when a process ended is forgotten when the next begins.
func TestUnfinishedChanges(t *testing.T) {
	data := bytes.Repeat([]byte{1}, 1<<20)
	batches := encode(t, []engine.Change{{Position: 1, Op: engine.OpWrite, Filter: 1, Data: data}})
	got, err := decode(batches[:1], 0, wire.NoLimits)
	if err != nil || len(got) != 0 {
		t.Fatalf("%d changes of a change without its end, %v", len(got), err)
	}
	again := encode(t, []engine.Change{{Position: 1, Op: engine.OpWrite, Filter: 1, Data: data}})
	got, err = decode(append(batches[:1:1], again...), 0, wire.NoLimits)
	if err != nil || len(got) != 1 || !bytes.Equal(got[0].Data, data) {
		t.Fatalf("%d changes after a change without its end, %v", len(got), err)
	}
}

func FuzzReader(f *testing.F) {
	s := umbel.State{Kind: "bloom", Params: umbel.Params{{Name: "k", Value: umbel.Uint(3)}}, Arrays: []cells.Array{{Len: 100, Width: 1, Words: []uint64{1, 2}}}}
	for _, b := range encode(f, []engine.Change{
		{Position: 1, Op: engine.OpCreate, Filter: 1, Name: "a", State: &s},
		{Position: 2, Op: engine.OpAdd, Filter: 1, Digests: []umbel.Digest{{H1: 1, H2: 2}}},
		{Position: 3, Op: engine.OpWrite, Filter: 1, Part: -1, Data: []byte("data")},
		{Position: 4, Op: engine.OpReplace, Filter: 1, State: &s},
		{Position: 5, Op: engine.OpRename, Filter: 1, Name: "b"},
		{Position: 6, Op: engine.OpFlush},
		{Position: 7, Op: engine.OpLose, Filter: 1},
		{Position: 8, Op: engine.OpMissNames, Number: 1, Count: 2},
		{Position: 9, Op: engine.OpAcknowledge},
	}) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		changes, err := decode([][]byte{b}, math.MaxUint64, wire.Limits{Bytes: 1 << 20})
		if err != nil {
			return
		}
		for i, c := range changes {
			if i > 0 && c.Position != changes[i-1].Position+1 {
				t.Errorf("position %d after %d", c.Position, changes[i-1].Position)
			}
			if c.State != nil {
				for _, p := range c.State.AllArrays() {
					if statecode.ArrayBytes(p) != p.Bytes() {
						t.Errorf("an array of %d bytes has %d", statecode.ArrayBytes(p), p.Bytes())
					}
				}
			}
		}
	})
}

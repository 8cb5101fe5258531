package snapshot

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/wire"
	"github.com/zeebo/xxh3"
)

func exampleEntry() (engine.Meta, []Reference) {
	m := engine.Meta{
		ID: 7, Name: "a\x00b", Expires: 1 << 41, Incomplete: true, From: 3, To: 9,
		State: umbel.State{
			Kind: "scalable", Params: umbel.Params{{Name: "k", Value: umbel.Uint(3)}, {Name: "rate", Value: umbel.Float(.5)}},
			Parts: []umbel.State{{Kind: "bloom", Arrays: []cells.Array{{Len: 8 * (engine.SegmentBytes + 8), Width: 1}}}},
		},
	}
	return m, []Reference{{length: engine.SegmentBytes}, {piece: 3, offset: 100, length: 8, sum: xxh3.Uint128{Hi: 1, Lo: 2}}}
}

func TestEntriesComeBack(t *testing.T) {
	m, segments := exampleEntry()
	for _, lost := range []bool{true, false} { // the rest uses an incomplete filter that lost nothing
		m.Lost = lost
		if got, _, err := ReadEntry(AppendEntry(nil, &m, segments), wire.NoLimits); err != nil || got.Lost != lost || !got.Incomplete {
			t.Errorf("lost %v: got %+v, %v", lost, got, err)
		}
	}
	b := AppendEntry(nil, &m, segments)
	gotMeta, gotSegments, err := ReadEntry(b, wire.NoLimits)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(gotMeta, m) || !reflect.DeepEqual(gotSegments, segments) || !reflect.DeepEqual(entrySegments(b), segments) {
		t.Errorf("got %v %v, want %v %v", gotMeta, gotSegments, m, segments)
	}
	for n := range b {
		if _, _, err := ReadEntry(b[:n], wire.NoLimits); !errors.Is(err, umbel.ErrCorrupt) {
			t.Errorf("cut to %d bytes: %v", n, err)
		}
	}
	if _, _, err := ReadEntry(b, wire.Limits{Bytes: 1 << 16}); !errors.Is(err, umbel.ErrLimit) {
		t.Errorf("beyond the limit: %v", err)
	}
}

func TestManifestsComeBack(t *testing.T) {
	a := &Snapshot{Number: 2, Taken: 1 << 40, Batch: 7, Covered: 8, Position: 9, Filters: 10, Bytes: 11, Catalog: []Reference{{piece: 1, length: 5, sum: xxh3.Uint128{Lo: 9}}}}
	b := &Snapshot{Number: 1, Taken: 1 << 39, Batch: 2}
	c := &Snapshot{Number: 3, Missing: &engine.MissingNames{Since: 1 << 40, Batches: 2}}
	for _, m := range []Manifest{{}, {Unfinished: true}, {Snapshot: a}, {Snapshot: b}, {Snapshot: c}} {
		coded := m.Append(nil)
		got, err := ReadManifest(coded)
		if err != nil || !reflect.DeepEqual(got, m) {
			t.Errorf("got %+v, %v, want %+v", got, err, m)
		}
		for n := range coded {
			if _, err := ReadManifest(coded[:n]); !errors.Is(err, umbel.ErrCorrupt) {
				t.Errorf("cut to %d bytes: %v", n, err)
			}
		}
	}
	later := Manifest{}.Append(nil)
	later[len(manifestMagic)]++
	if _, err := ReadManifest(later); !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "later version") {
		t.Errorf("of a later version: %v", err)
	}
}

func FuzzManifest(f *testing.F) {
	f.Add(Manifest{Snapshot: &Snapshot{Number: 2, Catalog: []Reference{{piece: 1, length: 5}}}}.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := ReadManifest(b)
		if err != nil {
			return
		}
		again, err := ReadManifest(m.Append(nil))
		if err != nil || !reflect.DeepEqual(again, m) {
			t.Errorf("%+v comes back as %+v, %v", m, again, err)
		}
	})
}

func FuzzEntry(f *testing.F) {
	m, segments := exampleEntry()
	f.Add(AppendEntry(nil, &m, segments))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, segments, err := ReadEntry(b, wire.Limits{Bytes: 1 << 30})
		if err != nil {
			return
		}
		again := AppendEntry(nil, &m, segments)
		_, _, err = ReadEntry(again, wire.Limits{Bytes: 1 << 30})
		if err != nil {
			t.Errorf("what was read is refused: %v", err)
		}
	})
}

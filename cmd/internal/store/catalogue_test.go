package store

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/wire"
	"github.com/zeebo/xxh3"
)

func exampleEntry() (engine.Meta, []reference) {
	m := engine.Meta{
		ID: 7, Name: "a\x00b", Expires: 1 << 41, Incomplete: true, From: 3, To: 9,
		State: umbel.State{
			Kind: "scalable", Params: umbel.Params{{Name: "k", Value: umbel.Uint(3)}, {Name: "rate", Value: umbel.Float(.5)}},
			Parts: []umbel.State{{Kind: "bloom", Arrays: []cells.Array{{Len: 8 * (engine.SegmentBytes + 8), Width: 1}}}},
		},
	}
	return m, []reference{{length: engine.SegmentBytes}, {piece: 3, offset: 100, length: 8, sum: xxh3.Uint128{Hi: 1, Lo: 2}}}
}

func TestEntriesComeBack(t *testing.T) {
	m, segments := exampleEntry()
	b := appendEntry(nil, &m, segments)
	gotMeta, gotSegments, err := readEntry(b, wire.NoLimits)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(gotMeta, m) || !reflect.DeepEqual(gotSegments, segments) || !reflect.DeepEqual(entrySegments(b), segments) {
		t.Errorf("got %v %v, want %v %v", gotMeta, gotSegments, m, segments)
	}
	for n := range b {
		if _, _, err := readEntry(b[:n], wire.NoLimits); !errors.Is(err, umbel.ErrCorrupt) {
			t.Errorf("cut to %d bytes: %v", n, err)
		}
	}
	if _, _, err := readEntry(b, wire.Limits{Bytes: 1 << 16, States: 10}); !errors.Is(err, umbel.ErrLimit) {
		t.Errorf("beyond the limit: %v", err)
	}
}

func TestManifestsComeBack(t *testing.T) {
	a := &snapshot{number: 2, taken: 1 << 40, batch: 7, covered: 8, position: 9, filters: 10, bytes: 11, catalogue: []reference{{piece: 1, length: 5, sum: xxh3.Uint128{Lo: 9}}}}
	b := &snapshot{number: 1, taken: 1 << 39, batch: 2}
	for _, m := range []manifest{{}, {unfinished: true}, {snapshot: a}, {snapshot: b}} {
		coded := m.append(nil)
		got, err := readManifest(coded)
		if err != nil || !reflect.DeepEqual(got, m) {
			t.Errorf("got %+v, %v, want %+v", got, err, m)
		}
		for n := range coded {
			if _, err := readManifest(coded[:n]); !errors.Is(err, umbel.ErrCorrupt) {
				t.Errorf("cut to %d bytes: %v", n, err)
			}
		}
	}
	later := manifest{}.append(nil)
	later[len(manifestMagic)]++
	if _, err := readManifest(later); !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "later version") {
		t.Errorf("of a later version: %v", err)
	}
}

func FuzzManifest(f *testing.F) {
	f.Add(manifest{snapshot: &snapshot{number: 2, catalogue: []reference{{piece: 1, length: 5}}}}.append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := readManifest(b)
		if err != nil {
			return
		}
		again, err := readManifest(m.append(nil))
		if err != nil || !reflect.DeepEqual(again, m) {
			t.Errorf("%+v comes back as %+v, %v", m, again, err)
		}
	})
}

func FuzzEntry(f *testing.F) {
	m, segments := exampleEntry()
	f.Add(appendEntry(nil, &m, segments))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, segments, err := readEntry(b, wire.Limits{Bytes: 1 << 30, States: 100})
		if err != nil {
			return
		}
		again := appendEntry(nil, &m, segments)
		_, _, err = readEntry(again, wire.Limits{Bytes: 1 << 30, States: 100})
		if err != nil {
			t.Errorf("what was read is refused: %v", err)
		}
	})
}

// frames makes a backup of frames with right sums: of each, a byte is the kind and the next
// three bytes are the length.
func frames(b []byte) []byte {
	var out bytes.Buffer
	w := newFrameWriter(&out)
	for len(b) >= 4 {
		n := min(int(b[1])|int(b[2])<<8|int(b[3])<<16, len(b)-4)
		w.frame(b[0], b[4:4+n])
		b = b[4+n:]
	}
	w.w.Flush()
	return out.Bytes()
}

func unsummed(kind byte, payload []byte) []byte {
	n := len(payload)
	return append([]byte{kind, byte(n), byte(n >> 8), byte(n >> 16)}, payload...)
}

func FuzzBackup(f *testing.F) {
	m, segments := exampleEntry()
	segments[1] = reference{piece: 1, length: 8, sum: xxh3.Hash128(make([]byte, 8))}
	whole := slices.Concat(
		unsummed(frameHead, backupHead(&snapshot{})),
		unsummed(frameFilter, appendEntry(nil, &m, segments)),
		unsummed(frameSegment, make([]byte, 8)),
		unsummed(frameBatch, []byte{1, 0, 1}),
		unsummed(frameEnd, uvarints(1, 1)),
	)
	read := func(b []byte) error {
		return readBackup(bytes.NewReader(b), func(*snapshot) error { return nil },
			func(f *frameReader, m engine.Meta, segments []reference) error {
				for _, r := range segments {
					if _, err := f.segment(r); err != nil {
						return err
					}
				}
				return nil
			}, func([]byte) error { return nil })
	}
	if err := read(frames(whole)); err != nil {
		f.Fatal(err)
	}
	f.Add(whole, true)
	f.Add(frames(whole), false)
	f.Fuzz(func(t *testing.T, b []byte, summed bool) {
		if summed {
			b = frames(b)
		}
		if read(b) != nil {
			return
		}
		for _, broken := range [][]byte{b[:len(b)-1], append(bytes.Clone(b), 0)} {
			if err := read(broken); !errors.Is(err, umbel.ErrCorrupt) {
				t.Errorf("a whole backup that was broken: %v", err)
			}
		}
	})
}

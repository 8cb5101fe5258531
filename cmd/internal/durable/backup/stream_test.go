package backup

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/cmd/internal/durable/disk/disktest"
	"github.com/umbel-filters/umbel/cmd/internal/durable/snapfile"
	"github.com/umbel-filters/umbel/cmd/internal/durable/snapshot"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/wire"
)

// exampleEntry returns the entry of a filter, as in a backup, and its only segment that is not zero.
func exampleEntry(t testing.TB) (entry, segment []byte) {
	t.Helper()
	m := engine.Meta{ID: 7, Name: "a", From: 3, To: 9, State: umbel.State{Kind: "bloom", Arrays: []cells.Array{{Len: 64, Width: 1}}}}
	d, err := snapfile.Open(disktest.NewDisk().Dir(), snapfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	into, err := snapshot.NewImport(d)
	if err != nil {
		t.Fatal(err)
	}
	segment = []byte("cells...")
	if err := into.Filter(t.Context(), m, 1, func(int) ([]byte, error) { return segment, nil }); err != nil {
		t.Fatal(err)
	}
	s := &snapshot.Snapshot{}
	if err := into.Publish(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	err = snapshot.ReadCatalog(t.Context(), snapshot.NewCache(d), s, func(b []byte) error {
		m, segments, err := snapshot.ReadEntry(b, wire.NoLimits)
		if err != nil {
			return err
		}
		entry = snapshot.AppendEntry(nil, &m, []snapshot.Reference{segments[0].WithoutPlace()})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return entry, segment
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
	entry, segment := exampleEntry(f)
	whole := slices.Concat(
		unsummed(frameHead, encodeHead(&snapshot.Snapshot{})),
		unsummed(frameSeed, []byte("seed")),
		unsummed(frameMissing, uvarints(1, 2)),
		unsummed(frameFilter, entry),
		unsummed(frameSegment, segment),
		unsummed(frameBatch, []byte{1, 0, 1}),
		unsummed(frameEnd, uvarints(1, 1)),
	)
	readAll := func(b []byte) error {
		return read(bytes.NewReader(b), contents{
			head:    func(*snapshot.Snapshot) error { return nil },
			seed:    func([]byte) error { return nil },
			missing: func(engine.MissingNames) error { return nil },
			filter: func(f *frameReader, m engine.Meta, segments []snapshot.Reference) error {
				for _, r := range segments {
					if _, err := f.segment(r); err != nil {
						return err
					}
				}
				return nil
			},
			batch: func([]byte) error { return nil },
		})
	}
	if err := readAll(frames(whole)); err != nil {
		f.Fatal(err)
	}
	f.Add(whole, true)
	f.Add(frames(whole), false)
	f.Fuzz(func(t *testing.T, b []byte, summed bool) {
		if summed {
			b = frames(b)
		}
		if readAll(b) != nil {
			return
		}
		for _, broken := range [][]byte{b[:len(b)-1], append(bytes.Clone(b), 0)} {
			if err := readAll(broken); !errors.Is(err, umbel.ErrCorrupt) {
				t.Errorf("a whole backup that was broken: %v", err)
			}
		}
	})
}

package squid

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/delta"
)

// fixtures returns the names of the captured digests, without suffix: those of testdata and, if the environment
// variable UMBEL_SQUID_DIGESTS is a directory, those in it.
func fixtures(t testing.TB) (names []string) {
	t.Helper()
	dirs := []string{"testdata"}
	if dir := os.Getenv("UMBEL_SQUID_DIGESTS"); dir != "" {
		dirs = append(dirs, dir)
	}
	for _, dir := range dirs {
		all, err := filepath.Glob(filepath.Join(dir, "*.digest"))
		if err != nil || len(all) == 0 {
			t.Fatalf("no digests in %s: %v", dir, err)
		}
		for _, name := range all {
			names = append(names, strings.TrimSuffix(name, ".digest"))
		}
	}
	return names
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	return fixture.Must(os.ReadFile(name))
}

func parsed(t testing.TB, b []byte) Digest {
	t.Helper()
	return fixture.Must(Parse(b, Limits{}))
}

// object is an object that Squid had stored when the digest was captured.
type object struct {
	key umbel.Digest
	uri string
}

// objects returns the objects of a digest, and nil if they are not known.
func objects(t testing.TB, name string) (all []object) {
	t.Helper()
	f, err := os.Open(name + ".keys.gz")
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	defer f.Close()
	lines := bufio.NewScanner(fixture.Must(gzip.NewReader(f)))
	for lines.Scan() {
		words := strings.SplitN(lines.Text(), " ", 3)
		all = append(all, object{fixture.Must(umbel.ParseDigest(words[0])), words[2]})
	}
	if lines.Err() != nil || len(all) == 0 {
		t.Fatalf("%s: %d keys, %v", name, len(all), lines.Err())
	}
	return all
}

// TestCapturedDigests: a digest that Squid made is written byte for byte as it was read, and its mask is the one
// that a filter has after Squid's own keys are added to it.
func TestCapturedDigests(t *testing.T) {
	for _, name := range fixtures(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			b := read(t, name+".digest")
			d := parsed(t, b)
			if again := fixture.Must(d.AppendBinary(nil)); !bytes.Equal(again, b) {
				t.Errorf("written as\n%x, want\n%x", again, b)
			}
			f := fixture.Must(d.Filter())
			all := objects(t, name)
			if len(all) == 0 {
				return
			}
			built := testFilter(t, f.Shape().M)
			for _, o := range all {
				built.Add(o.key)
			}
			if !built.State().Equal(f.State()) {
				t.Error("the cells differ from those of Squid's keys")
			}
			if n := uint32(len(all)); d.Count != n {
				t.Errorf("count %d, want %d", d.Count, n)
			}
			e := fixture.Must(built.Digest())
			e.Capacity, e.Count, e.BitsPerEntry = d.Capacity, d.Count, d.BitsPerEntry
			if again := fixture.Must(e.AppendBinary(nil)); !bytes.Equal(again, b) {
				t.Error("the digest of the filter differs")
			}
		})
	}
}

// TestCapturedKeys: a key follows from the method and the URI as documented.
func TestCapturedKeys(t *testing.T) {
	for _, name := range fixtures(t) {
		for _, o := range objects(t, name) {
			uri, err := CanonicalURI(o.uri)
			if err != nil || uri != o.uri {
				t.Fatalf("%s: %q, %v, want it unchanged", o.uri, uri, err)
			}
			if key := Hasher.HashBytes(AppendKey(nil, MethodGet, uri, "")); key != o.key {
				t.Fatalf("%s: key %v, want %v", uri, key, o.key)
			}
		}
	}
}

// TestFilterAndDigest: a digest that becomes a filter and a digest again keeps all but its count, which is
// estimated.
func TestFilterAndDigest(t *testing.T) {
	for _, name := range fixtures(t) {
		d := parsed(t, read(t, name+".digest"))
		f := fixture.Must(d.Filter())
		if p := f.Planned(); p.Keys != uint64(d.Capacity) || p.FPRate <= 0 {
			t.Errorf("%s: planned for %+v, want %d keys", name, p, d.Capacity)
		}
		e := fixture.Must(f.Digest())
		if !fixture.Near(float64(e.Count), float64(d.Count), 0.05) {
			t.Errorf("%s: estimated %d keys of %d", name, e.Count, d.Count)
		}
		e.Count, e.Deletions = d.Count, d.Deletions
		if !bytes.Equal(fixture.Must(e.AppendBinary(nil)), fixture.Must(d.AppendBinary(nil))) {
			t.Errorf("%s: capacity %d with %d bits, want %d with %d, and the same mask", name, e.Capacity, e.BitsPerEntry, d.Capacity, d.BitsPerEntry)
		}
	}
	if _, err := fixture.Must(NewShape(Shape{M: 800})).Digest(); !errors.Is(err, umbel.ErrGoal) {
		t.Errorf("a filter of another hasher: %v, want ErrGoal", err)
	}
}

// TestEntries: every size has a capacity and bits per entry.
func TestEntries(t *testing.T) {
	for _, c := range []struct {
		keys, bytes uint64
		capacity    uint32
		bits        uint8
	}{
		{0, 1283, 1283, 8},
		{2052, 1283, 2052, 5},
		{2000, 4000, 2000, 16},
		{3, 2, 3, 5},
		{1, 1, 1, 5},
		{1, 15, 1, 113},
		{1, 16, 1, 121},
		{1, 17, 17, 8},
		{1 << 40, 100, 100, 8},
		{2052, 641, 641, 8},
		{0, MaxMask, MaxMask, 8},
	} {
		capacity, bits := entries(c.keys, c.bytes)
		if n, err := maskSize(capacity, bits); capacity != c.capacity || bits != c.bits || n != c.bytes || err != nil {
			t.Errorf("%d keys in %d bytes: capacity %d with %d bits, %d bytes, %v, want %d with %d", c.keys, c.bytes, capacity, bits, n, err, c.capacity, c.bits)
		}
	}
}

// TestParseRefuses: each of these has one fault.
func TestParseRefuses(t *testing.T) {
	good := read(t, "testdata/s57-n10-bpe5.digest")
	change := func(at int, x ...byte) []byte {
		b := slices.Clone(good)
		copy(b[at:], x)
		return b
	}
	for what, b := range map[string][]byte{
		"nothing":                          nil,
		"part of the block":                good[:127],
		"a block alone":                    good[:128],
		"a mask that ends early":           good[:len(good)-1],
		"a mask that is too long":          append(slices.Clone(good), 0),
		"a version that ends before 3":     change(0, 0, 2),
		"a version of the future":          change(0, 0, 9, 0, 6),
		"a version that needs a later one": change(0, 0, 4, 0, 5),
		"no capacity":                      change(4, 0, 0, 0, 0),
		"another capacity":                 change(4, 0, 0, 0, 70),
		"another size":                     change(16, 0, 0, 0, 40),
		"a size of 4 GiB":                  change(16, 255, 255, 255, 255),
		"no bits per entry":                change(20, 0),
		"128 bits per entry":               change(20, 128),
		"255 bits per entry":               change(20, 255),
		"three hashes":                     change(21, 3),
	} {
		if d, err := Parse(b, Limits{}); !errors.Is(err, umbel.ErrCorrupt) && !errors.Is(err, umbel.ErrLimit) || errors.Is(err, ErrOverfull) || d.Mask != nil {
			t.Errorf("%s: %+v, %v, want an error and no digest", what, d, err)
		}
	}
	for _, c := range [][2]byte{{3, 3}, {5, 3}, {5, 5}, {9, 5}} {
		if _, err := Parse(change(0, 0, c[0], 0, c[1]), Limits{}); err != nil {
			t.Errorf("version %d, readable from %d on: %v", c[0], c[1], err)
		}
	}
	if _, err := Parse(good, Limits{MaskBytes: 38}); !errors.Is(err, umbel.ErrLimit) {
		t.Errorf("a mask above the limit: %v, want ErrLimit", err)
	}
	if _, err := Parse(good, Limits{MaskBytes: 39}); err != nil {
		t.Errorf("a mask at the limit: %v", err)
	}
}

// TestOverfull: 65 % of the cells may be set. A digest with more can be examined, but not written.
func TestOverfull(t *testing.T) {
	b := slices.Clone(read(t, "testdata/s57-n10-bpe5.digest")[:BlockBytes])
	binary.BigEndian.PutUint32(b[4:], 25)
	binary.BigEndian.PutUint32(b[16:], 25)
	b[20] = 8
	mask := make([]byte, 25) // 200 cells
	for i := range 130 {
		mask[i/8] |= 1 << (i % 8)
	}
	if d, err := Parse(append(b, mask...), Limits{}); err != nil || d.Fill() != MaxFill {
		t.Errorf("65 %%: fill %v, %v, want no error", d.Fill(), err)
	}
	mask[24] = 1
	d, err := Parse(append(b, mask...), Limits{})
	if !errors.Is(err, ErrOverfull) || !errors.Is(err, umbel.ErrCorrupt) || d.Capacity != 25 || d.Fill() != 131.0/200 {
		t.Errorf("65.5 %%: %+v, %v, want the digest and ErrOverfull", d, err)
	}
	if w, err := d.AppendBinary([]byte("x")); !errors.Is(err, ErrOverfull) || string(w) != "x" {
		t.Errorf("written as %x, %v, want ErrOverfull", w, err)
	}
	if _, err := fixture.Must(d.Filter()).Digest(); !errors.Is(err, ErrOverfull) {
		t.Errorf("the digest of its filter: %v, want ErrOverfull", err)
	}
}

// TestCheckRefuses: a digest that could harm a Squid is not written.
func TestCheckRefuses(t *testing.T) {
	for what, d := range map[string]Digest{
		"nothing":            {},
		"128 bits per entry": {Capacity: 10, BitsPerEntry: 128, Mask: make([]byte, 160)},
		"no bits per entry":  {Capacity: 10, Mask: make([]byte, 10)},
		"no capacity":        {BitsPerEntry: 8},
		"a longer mask":      {Capacity: 10, BitsPerEntry: 8, Mask: make([]byte, 11)},
		"a shorter mask":     {Capacity: 10, BitsPerEntry: 8, Mask: make([]byte, 9)},
	} {
		if b, err := d.AppendBinary(nil); !errors.Is(err, umbel.ErrGoal) || b != nil {
			t.Errorf("%s: %x, %v, want ErrGoal", what, b, err)
		}
	}
	if _, err := maskSize(1<<32-1, 5); !errors.Is(err, umbel.ErrGoal) {
		t.Errorf("a mask of 2.7 GB: %v, want ErrGoal", err)
	}
}

// TestDeltaOfDigests: containers and deltas carry digests.
func TestDeltaOfDigests(t *testing.T) {
	old := fixture.Must(parsed(t, read(t, "testdata/s57-n2000-t0.digest")).Filter())
	b := fixture.Must(wire.Append(nil, old.State()))
	if s := fixture.Must(wire.Parse(b, wire.Limits{})); !s.Equal(old.State()) || s.Planned.Keys != 2052 {
		t.Errorf("a container returns other cells, or planned keys %d", s.Planned.Keys)
	}
	now := old.Clone()
	now.AddAll(nil, fixture.Digests(1, 20))
	d := fixture.Must(delta.Append(nil, old.State(), now.State()))
	if len(d) > 250 {
		t.Errorf("a delta of 20 keys has %d bytes, want a fraction of the %d of the digest", len(d), BlockBytes+1283)
	}
	if s := fixture.Must(delta.Apply(old.State(), d, wire.Limits{})); !s.Equal(now.State()) {
		t.Error("the delta's result differs")
	}
}

// FuzzParse: an accepted digest is written as it was read, but for the version and reserved bytes, and becomes
// a filter and a digest again.
func FuzzParse(f *testing.F) {
	for _, name := range fixtures(f) {
		f.Add(read(f, name+".digest"))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := Parse(b, Limits{})
		if err != nil {
			if !errors.Is(err, umbel.ErrCorrupt) && !errors.Is(err, umbel.ErrLimit) {
				t.Fatalf("%v wraps no sentinel", err)
			}
			d.Fill()
			d.Tolerant()
			return
		}
		w := fixture.Must(d.AppendBinary(nil))
		if !bytes.Equal(w[4:22], b[4:22]) || !bytes.Equal(w[BlockBytes:], b[BlockBytes:]) {
			t.Fatalf("written as %x, read as %x", w, b)
		}
		if g := fixture.Must(fixture.Must(d.Filter()).Digest()); !bytes.Equal(g.Mask, d.Mask) {
			t.Fatalf("the filter's mask is %x, want %x", g.Mask, d.Mask)
		}
		d.Tolerant()
	})
}

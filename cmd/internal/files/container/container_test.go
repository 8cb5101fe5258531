package container

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/delta"
	"github.com/umbel-filters/umbel/wire/hashtree"
)

func small(t *testing.T) umbel.Filter {
	t.Helper()
	f, err := filter.All[0].New(umbel.Goal{Keys: 100, FPRate: 0.01}, nil)
	if err != nil {
		t.Fatal(err)
	}
	f.Add(umbel.Digest{H1: 1, H2: 2})
	return f
}

func TestOpenWhatWasWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	f := small(t)
	if err := Write(path, f.State()); err != nil {
		t.Fatal(err)
	}
	g, size, err := Open(path, filter.All)
	if err != nil {
		t.Fatal(err)
	}
	if hashtree.Identify(g.State()) != hashtree.Identify(f.State()) || uint64(size) > wire.Size(f.State()) {
		t.Errorf("the filter came back changed, or in %d bytes", size)
	}
	if kind, err := Verify(path); kind != f.State().Kind || err != nil {
		t.Errorf("Verify: %q, %v", kind, err)
	}
	if _, _, err := Open(path, nil); !errors.Is(err, umbel.ErrKind) {
		t.Errorf("error %v, want one that wraps ErrKind", err)
	}
}

func TestBadFiles(t *testing.T) {
	dir := t.TempDir()
	good, err := wire.Append(nil, small(t).State())
	if err != nil {
		t.Fatal(err)
	}
	flipped := append([]byte(nil), good...)
	flipped[len(flipped)/2] ^= 1
	for name, b := range map[string][]byte{
		"empty": nil, "text": []byte("words\nand words\n"), "cut": good[:len(good)-5], "head": good[:12],
		"longer": append(append([]byte(nil), good...), 0), "flipped": flipped,
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, _, err := Open(path, filter.All); !errors.Is(err, umbel.ErrCorrupt) || !strings.HasPrefix(err.Error(), path+" is ") {
			t.Errorf("%s: error %v, want one that wraps ErrCorrupt and describes the file", name, err)
		}
		if _, err := Verify(path); !errors.Is(err, umbel.ErrCorrupt) || !strings.HasPrefix(err.Error(), path+" is ") {
			t.Errorf("%s: Verify: %v", name, err)
		}
	}
	if _, _, err := Open(dir, filter.All); err == nil || !strings.HasPrefix(err.Error(), dir+" is a directory") {
		t.Errorf("error %v", err)
	}
	if _, _, err := Open(filepath.Join(dir, "none"), filter.All); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

// A file that is no filter, or no delta, is described by what it is.
func TestOtherForms(t *testing.T) {
	f := small(t)
	container, err := wire.Append(nil, f.State())
	if err != nil {
		t.Fatal(err)
	}
	change, err := delta.Append(nil, f.State(), f.State())
	if err != nil {
		t.Fatal(err)
	}
	const bzip2 = "BZh91AY&SY\x00\x00"
	path := filepath.Join(t.TempDir(), "f")
	for name, c := range map[string]struct {
		file          string
		filter, delta string // what the error contains
	}{
		"container":  {string(container), "", "not a delta; make a delta: umbel diff OLD "},
		"delta":      {string(change), "not a filter; apply it with umbel patch ", ""},
		"gzip":       {"\x1f\x8b\x08\x00", "zcat", "zcat"},
		"bzip2":      {bzip2, "bzcat", "bzcat"},
		"NixBloom":   {"NixBloom\x01", "convert it: umbel convert ", "make a delta: umbel diff OLD "},
		"text":       {"words\n", `it begins with "words`, `it begins with "words`},
		"empty file": {"", "which no filter is", "which no delta is"},
	} {
		if err := os.WriteFile(path, []byte(c.file), 0o666); err != nil {
			t.Fatal(err)
		}
		_, _, delta := ReadDelta(path)
		for want, err := range map[string]error{c.filter: CheckHead(path), c.delta: delta} {
			if want == "" != (err == nil) || want != "" && (!errors.Is(err, umbel.ErrCorrupt) || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s: error %v, want one that wraps ErrCorrupt and contains %q", name, err, want)
			}
		}
	}
	if err := CheckHead(t.TempDir()); err != nil {
		t.Errorf("of what is no regular file: %v", err)
	}
}

func TestFits(t *testing.T) {
	if err := Fits("a filter", 1); err != nil {
		t.Error(err)
	}
	if err := Fits("a filter", math.MaxUint64); err != nil && !errors.Is(err, umbel.ErrLimit) {
		t.Errorf("error %v, want one that wraps ErrLimit", err)
	}
}

// Describe finds the kind of a filter by the first bytes of its file, with notes and without, however damaged the rest is.
func TestDescribe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	for _, kind := range filter.All {
		for _, planned := range []umbel.Planned{{}, {Keys: 100, FPRate: 0.01}} {
			f, err := kind.New(umbel.Goal{Keys: 100, FPRate: 0.01}, nil)
			if err != nil {
				t.Fatal(err)
			}
			s := f.State()
			s.Planned = planned
			if err := Write(path, s); err != nil {
				t.Fatal(err)
			}
			whole, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, size := range []int{len(whole), 9 + len(kind.Name)} {
				if err := os.WriteFile(path, whole[:size], 0o666); err != nil {
					t.Fatal(err)
				}
				if name, n, ok := Describe(path); !ok || name != kind.Name || n != int64(size) {
					t.Errorf("%s, %d of %d bytes: %q, %d, %v", kind.Name, size, len(whole), name, n, ok)
				}
			}
			if err := os.WriteFile(path, whole[:8+len(kind.Name)], 0o666); err != nil {
				t.Fatal(err)
			}
			if name, _, ok := Describe(path); ok {
				t.Errorf("a part of a name is the kind %q", name)
			}
			if err := WriteForm(path, s, Form{packed: true}); err != nil {
				t.Fatal(err)
			}
			if name, _, ok := Describe(path); !ok || name != kind.Name {
				t.Errorf("%s, packed: %q, %v", kind.Name, name, ok)
			}
		}
	}
	for _, text := range append([]string{"", "alice\n"}, Heads...) {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if name, _, ok := Describe(path); ok {
			t.Errorf("%q is a filter of kind %q", text, name)
		}
	}
	if _, _, ok := Describe(filepath.Dir(path)); ok {
		t.Error("a directory is a filter")
	}
}

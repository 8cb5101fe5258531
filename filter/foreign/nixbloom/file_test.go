package nixbloom_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/foreign/nixbloom"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// TestGoldenFiles: the files of an independent program are the files of this package, in both directions.
func TestGoldenFiles(t *testing.T) {
	for _, n := range []uint64{1, 20, 777} {
		want, err := os.ReadFile(fmt.Sprintf("testdata/paths-%d.nixbloom", n))
		if err != nil {
			t.Fatal(err)
		}
		list, err := os.ReadFile(fmt.Sprintf("testdata/paths-%d.txt", n))
		if err != nil {
			t.Fatal(err)
		}
		f := fixture.Must(nixbloom.NewShape(fixture.Must(nixbloom.NixShape(n, 0.01))))
		read := fixture.Must(nixbloom.ParseFile(want))
		for path := range strings.Lines(string(list)) {
			d, err := nixbloom.DigestOf(strings.TrimSuffix(path, "\n"))
			if err != nil {
				t.Fatal(err)
			}
			f.Add(d)
			if !read.Has(d) {
				t.Errorf("%d paths: %s is absent: a false negative", n, path)
			}
		}
		if got := fixture.Must(f.AppendFile(nil)); !bytes.Equal(got, want) {
			t.Errorf("%d paths: %d bytes that differ from the %d of the file", n, len(got), len(want))
		}
		if got := fixture.Must(read.AppendFile([]byte("before"))); !bytes.Equal(got, append([]byte("before"), want...)) {
			t.Errorf("%d paths: read and written again, the file differs", n)
		}
	}
}

// header returns a file with the given numbers and length.
func header(version, k, m uint64, length int) []byte {
	b := []byte("NixBloom")
	for _, x := range []uint64{version, k, m} {
		b = binary.LittleEndian.AppendUint64(b, x)
	}
	return append(b, make([]byte, length)...)
}

func TestParseFileRefuses(t *testing.T) {
	for what, b := range map[string][]byte{
		"no bytes":           nil,
		"part of a header":   header(1, 7, 64, 0)[:31],
		"another magic":      append([]byte("nixBloom"), header(1, 7, 64, 8)[8:]...),
		"version 0":          header(0, 7, 64, 8),
		"version 2":          header(2, 7, 64, 8),
		"k of 0":             header(1, 0, 64, 8),
		"k too large":        header(1, 256+1, 64, 8),
		"k beyond 32 bits":   header(1, 1<<32+7, 64, 8),
		"no cells":           header(1, 7, 0, 0),
		"cells of half byte": header(1, 7, 12, 2),
		"a byte too few":     header(1, 7, 64, 7),
		"a byte too many":    header(1, 7, 64, 9),
		"an exabyte":         header(1, 7, 1<<63, 8),
		"2^64 - 8 cells":     header(1, 7, 1<<64-8, 8),
		"the largest m":      header(1, 7, 1<<56, 8),
	} {
		if f, err := nixbloom.ParseFile(b); !errors.Is(err, umbel.ErrCorrupt) || f != nil {
			t.Errorf("%s: %v, %v, want ErrCorrupt", what, f, err)
		}
	}
}

func TestAppendFileRefuses(t *testing.T) {
	hashed := fixture.Must(nixbloom.NewShape(nixbloom.Shape{M: 64, K: 3}))
	for what, c := range map[string]struct {
		f    *nixbloom.Filter
		want error
	}{"hash xxh3": {hashed, umbel.ErrMismatch}, "zero": {new(nixbloom.Filter), umbel.ErrGoal}} {
		if got, err := c.f.AppendFile([]byte("x")); !errors.Is(err, c.want) || string(got) != "x" {
			t.Errorf("%s: %q, %v, want %v", what, got, err, c.want)
		}
	}
}

// TestFileOfFold: a fold to a size that is no multiple of 64 is a file that reads as that filter.
func TestFileOfFold(t *testing.T) {
	f := fixture.Must(nixbloom.NewShape(nixbloom.Shape{M: 24 * 5 * 7, K: 4, Hasher: nixbloom.NixHasher}))
	ds := digests(1, 20)
	f.AddAll(nil, ds)
	if err := f.Fold(5); err != nil {
		t.Fatal(err)
	}
	g := fixture.Must(nixbloom.ParseFile(fixture.Must(f.AppendFile(nil))))
	if !g.State().Equal(f.State()) {
		t.Error("the file is that of another filter")
	}
	for _, d := range ds {
		if !g.Has(d) {
			t.Errorf("%v is absent: a false negative", d)
		}
	}
}

func FuzzFile(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte) {
		g, err := nixbloom.ParseFile(b)
		if err != nil {
			if !errors.Is(err, umbel.ErrCorrupt) {
				t.Fatalf("%v, want ErrCorrupt", err)
			}
			return
		}
		if got := fixture.Must(g.AppendFile(nil)); !bytes.Equal(got, b) {
			t.Fatalf("got %x, want %x", got, b)
		}
		d := umbel.DigestFromHash64(uint64(len(b)))
		if g.Has(d) == g.Add(d) || !g.Has(d) {
			t.Fatal("Add must report a change if and only if Has was false before, and Has must be true afterwards")
		}
		if s := g.Stats(); !(s.FPRate >= 0 && s.FPRate <= 1) {
			t.Fatalf("rate %v", s.FPRate)
		}
	})
}

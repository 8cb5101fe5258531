package main

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/spec/vectors/internal/vector"
)

func page(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, "..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// exampleBytes returns the bytes in the example of a page: the hexadecimal numbers at the
// beginning of each line.
func exampleBytes(t *testing.T, name string) []byte {
	t.Helper()
	_, example, _ := strings.Cut(page(t, name), "## Example\n")
	_, example, _ = strings.Cut(example, "```\n")
	example, _, _ = strings.Cut(example, "```")
	var got []byte
	for line := range strings.Lines(example) {
		for _, word := range strings.Fields(line) {
			b, err := hex.DecodeString(word)
			if err != nil || len(b) != 1 {
				break // what follows explains
			}
			got = append(got, b...)
		}
	}
	return got
}

// TestContainerExample: the example in container.md is the container of the filter that it
// describes.
func TestContainerExample(t *testing.T) {
	got := exampleBytes(t, "container.md")
	f, err := bloom.NewShape(bloom.Shape{M: 100, K: 3, Hasher: umbel.Hasher{Alg: umbel.MD5}})
	if err != nil {
		t.Fatal(err)
	}
	want, err := f.MarshalBinary()
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("the page has\n%swant\n%s%v", vector.HexLines(got), vector.HexLines(want), err)
	}
}

// TestCodingsTable: the table in codings.md has the correct payloads.
func TestCodingsTable(t *testing.T) {
	text := page(t, "codings.md")
	bits, counters := emptyCells(100, 1), emptyCells(10, 2)
	for _, i := range []uint64{10, 40, 70} {
		bits.SetBit(i)
	}
	for i, v := range []uint64{0, 1, 0, 3, 0, 0, 1, 0, 2, 0} {
		counters.Put(uint64(i), v)
	}
	for _, code := range []string{payloadOf(bits), positionsIn(bits)[1:], payloadOf(counters)} {
		if row := fmt.Sprintf("| `% x` |", code); !strings.Contains(text, row) {
			t.Errorf("no row %s", row)
		}
	}
}

// TestHashingTable: the table in hashing.md has the correct digests.
func TestHashingTable(t *testing.T) {
	text := page(t, "hashing.md")
	for _, a := range algorithms {
		d := digestOf(umbel.Hasher{Alg: a.alg}, []byte("abc"))
		if row := fmt.Sprintf("| %v | %016x | %016x |\n", a.alg, d.H1, d.H2); !strings.Contains(text, row) {
			t.Errorf("no row %s", row)
		}
	}
}

// TestKindsPages: each kind has a line in kinds.md, a page in spec, and a page for users with
// measurements.
func TestKindsPages(t *testing.T) {
	list := page(t, "kinds.md")
	for _, v := range filter.All {
		if !strings.Contains(list, "(kinds/"+v.Name+".md)") {
			t.Errorf("kinds.md has no link to %s", v.Name)
		}
		for _, name := range []string{"kinds/" + v.Name + ".md", "../docs/kinds/" + v.Name + ".md"} {
			if !strings.HasPrefix(page(t, name), "# "+v.Name+"\n") {
				t.Errorf("%s doesn't begin with # %s", name, v.Name)
			}
		}
	}
}

// TestKindNumbers: each kind has a number in kinds.tsv, and its packed filters begin with it.
func TestKindNumbers(t *testing.T) {
	for _, v := range filter.All {
		b, err := os.ReadFile(filepath.Join(root, "kinds", v.Name+"-small-xxh3-packed.txt"))
		if err != nil {
			t.Fatal(err)
		}
		f, err := vector.Parse(v.Name, b)
		if err != nil {
			t.Fatal(err)
		}
		if b, err = f.Data(); err != nil {
			t.Fatal(err)
		}
		if row := fmt.Sprintf("\n%d\t%s\t", b[len(shortMagic)]&127, v.Name); !strings.Contains(page(t, "kinds.tsv"), row) {
			t.Errorf("%s: no row %q in kinds.tsv", v.Name, row)
		}
	}
}

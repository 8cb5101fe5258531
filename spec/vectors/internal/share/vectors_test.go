package main

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/spec/vectors/internal/vector"
	"golang.org/x/mod/sumdb/note"
)

const root = "../../share"

// TestGenerated: the files on disk are exactly those that the code generates.
func TestGenerated(t *testing.T) {
	files, err := all()
	if err != nil {
		t.Fatal(err)
	}
	want := make(map[string][]byte)
	for _, f := range files {
		if want[f.Path] != nil {
			t.Errorf("%s is generated twice", f.Path)
		}
		want[f.Path] = f.Bytes()
	}
	for _, f := range onDisk(t, "*") {
		if slices.Contains(frozen, f.Path) {
			continue
		}
		if !bytes.Equal(f.Bytes(), want[f.Path]) {
			t.Errorf("%s differs from what is generated: run go generate ./... in share and check whether the format changed", f.Path)
		}
		delete(want, f.Path)
	}
	for name := range want {
		t.Errorf("%s is missing: run go generate ./... in share", name)
	}
}

// onDisk returns the vectors on disk whose names match a pattern.
func onDisk(t *testing.T, pattern string) []file {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, pattern))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no vectors %s in %s: %v", pattern, root, err)
	}
	var files []file
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := vector.Parse(filepath.Base(path), b)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}

// sentinel returns the error that a vector expects.
func sentinel(t *testing.T, name string) error {
	t.Helper()
	want, known := map[string]error{
		"ok": nil, "corrupt": share.ErrCorrupt, "signature": share.ErrSignature,
		"exact": nil, "stale": share.ErrStale, "future": share.ErrFuture, "replayed": share.ErrReplayed, "fork": share.ErrFork,
	}[name]
	if !known {
		t.Fatalf("%q is not an outcome", name)
	}
	return want
}

func verifierOf(t *testing.T, f file) note.Verifier {
	t.Helper()
	v, err := note.NewVerifier(f.Value("key"))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestObjects(t *testing.T) {
	for _, row := range onDisk(t, "objects.txt")[0].Rows() {
		n, err := strconv.Atoi(row[0])
		if err != nil {
			t.Fatal(err)
		}
		r := share.RefOf(content(n))
		if r.Hash.String() != row[1] || r.Bytes != uint64(n) {
			t.Errorf("%d bytes: %s of %d bytes, want %s", n, r.Hash, r.Bytes, row[1])
		}
		if h, err := share.ParseHash(row[1]); err != nil || h != r.Hash {
			t.Errorf("%s: %s, %v", row[1], h, err)
		}
	}
}

// Heads are accepted or refused as their headers state. An accepted one has the fields of its header.
func TestHeads(t *testing.T) {
	for _, f := range slices.Concat(onDisk(t, "head-*"), onDisk(t, "bad-head-*")) {
		t.Run(f.Path, func(t *testing.T) {
			b := []byte(f.Body)
			if f.Value("body") == "hex" {
				var err error
				if b, err = f.Data(); err != nil {
					t.Fatal(err)
				}
			}
			v := verifierOf(t, f)
			h, err := share.OpenHead(b, v.Name(), note.VerifierList(v))
			if want := sentinel(t, f.Value("expect")); !errors.Is(err, want) {
				t.Fatalf("got %v, want %v", err, want)
			}
			if err != nil {
				return
			}
			if got := describe(*h); !slices.Equal(got, f.Header[3:]) {
				t.Errorf("%v", got)
			}
		})
	}
}

// Indexes are accepted or refused as their headers state, and encode to the same bytes.
func TestIndexes(t *testing.T) {
	for _, f := range slices.Concat(onDisk(t, "index-*"), onDisk(t, "bad-index-*")) {
		t.Run(f.Path, func(t *testing.T) {
			b, err := f.Data()
			if err != nil {
				t.Fatal(err)
			}
			var x share.Index
			err = x.UnmarshalBinary(b)
			if want := sentinel(t, f.Value("expect")); !errors.Is(err, want) {
				t.Fatalf("got %v, want %v", err, want)
			}
			if err != nil {
				return
			}
			if got := entries(x); !slices.Equal(got, f.Header[2:]) {
				t.Errorf("%v", got)
			}
			if again, err := x.AppendBinary(nil); err != nil || !bytes.Equal(again, b) {
				t.Errorf("written again: %x, %v", again, err)
			}
		})
	}
}

// The examples of spec/share.md are vectors.
func TestPage(t *testing.T) {
	b, err := os.ReadFile("../../../share.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(b), "## Example\n")
	var blocks []string
	for i, block := range strings.Split(text, "```") {
		if i%2 == 1 {
			blocks = append(blocks, strings.TrimPrefix(block, "\n"))
		}
	}
	if len(blocks) != 3 {
		t.Fatalf("%d examples, want a key, a head and an index", len(blocks))
	}
	head := onDisk(t, "head-deltas.txt")[0]
	if want := head.Value("key") + "\n"; blocks[0] != want {
		t.Errorf("the key is %s, want %s", blocks[0], want)
	}
	if blocks[1] != head.Body {
		t.Errorf("the head is\n%swant\n%s", blocks[1], head.Body)
	}
	var got []byte
	for line := range strings.Lines(blocks[2]) {
		for _, word := range strings.Fields(line) {
			b, err := hex.DecodeString(word)
			if err != nil || len(b) != 1 {
				break // what follows explains
			}
			got = append(got, b...)
		}
	}
	if want, err := onDisk(t, "index-example.txt")[0].Data(); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the index is\n%swant\n%s%v", vector.HexLines(got), vector.HexLines(want), err)
	}
	if row := fmt.Sprintf("| `%s` |", share.RefOf(content(200_000)).Hash); !strings.Contains(string(b), row) {
		t.Errorf("no row %s", row)
	}
}

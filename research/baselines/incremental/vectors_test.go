package incremental_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/research/baselines/incremental"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/hashtree"
)

// vectors are the conformance vectors of kinds; those of this kind are no longer written.
const vectors = "../../../spec/vectors/kinds"

// TestVectors reads every vector of the kind, as its header states, and writes the filter again.
func TestVectors(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(vectors, "incremental-*.txt"))
	if err != nil || len(files) < 25 {
		t.Fatalf("%d vectors: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			fields, b := readVector(t, file)
			s, err := wire.Parse(b, wire.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			f, err := incremental.Open(s)
			if fields["expect"][0] != "ok" {
				if !errors.Is(err, umbel.ErrCorrupt) {
					t.Errorf("got %v, want an error that wraps %q", err, umbel.ErrCorrupt)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			wantKeys(t, fields, f)
			if got := hashtree.Identify(f.State()).String(); got != fields["id"][0] {
				t.Errorf("ID %s, want %s", got, fields["id"][0])
			}
			if again, err := wire.Append(nil, f.State()); err != nil || !bytes.Equal(again, b) {
				t.Errorf("written again it differs: %v", err)
			}
		})
	}
}

// TestVectorOfUnion: each member of the union that was written when this kind was one of its kinds is read
// by its own kind, and together they have the keys of the vector.
func TestVectorOfUnion(t *testing.T) {
	fields, b := readVector(t, filepath.Join(vectors, "union-mixed.txt"))
	s, err := wire.Parse(b, wire.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var all members
	own := 0
	for _, part := range s.Parts {
		f, err := append(filter.All, incremental.Kind).Open(part)
		if err != nil {
			t.Fatal(err)
		}
		if part.Kind == incremental.Name {
			own++
		}
		all = append(all, f)
	}
	if own != 1 {
		t.Errorf("%d members of this kind, want 1", own)
	}
	wantKeys(t, fields, all)
}

type members []umbel.Filter

func (m members) Hasher() umbel.Hasher { return m[0].Hasher() }

func (m members) Has(d umbel.Digest) bool {
	for _, f := range m {
		if f.Has(d) {
			return true
		}
	}
	return false
}

// wantKeys checks that a filter has the keys of a vector and not the absent ones.
func wantKeys(t *testing.T, fields map[string][]string, f interface {
	Hasher() umbel.Hasher
	Has(umbel.Digest) bool
}) {
	t.Helper()
	for name, want := range map[string]bool{"key": true, "absent": false} {
		if len(fields[name]) == 0 {
			t.Errorf("no %s", name)
		}
		for _, k := range fields[name] {
			key, err := hex.DecodeString(k)
			if err != nil {
				t.Fatal(err)
			}
			if got := f.Has(digestOf(f.Hasher(), key)); got != want {
				t.Errorf("%s %s: Has is %v", name, k, got)
			}
		}
	}
}

// digestOf returns the digest of a key; with hasher caller, a key is the digest itself.
func digestOf(h umbel.Hasher, key []byte) umbel.Digest {
	if h.HashesKeys() {
		return h.HashBytes(key)
	}
	var b [16]byte
	copy(b[:], key)
	return umbel.Digest{H1: binary.LittleEndian.Uint64(b[:8]), H2: binary.LittleEndian.Uint64(b[8:])}
}

// readVector returns the fields of a vector's header and the bytes of its body.
func readVector(t *testing.T, file string) (fields map[string][]string, body []byte) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, text, _ := strings.Cut(string(b), "\n\n")
	fields = map[string][]string{}
	for line := range strings.Lines(head) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		fields[name] = append(fields[name], value)
	}
	if body, err = hex.DecodeString(strings.Join(strings.Fields(text), "")); err != nil {
		t.Fatal(err)
	}
	return fields, body
}

// Package wiretest makes states and damaged messages for the tests of wire and wire/delta.
package wiretest

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// Array returns an array of n cells of width bits. Word i is word(i), without the bits
// beyond the last cell.
func Array(t testing.TB, n uint64, width uint, word func(i int) uint64) cells.Array {
	t.Helper()
	a, err := cells.New(n, width)
	if err != nil {
		t.Fatal(err)
	}
	for i := range a.Words {
		a.Words[i] = word(i)
	}
	if used := n * uint64(width) & 63; used != 0 {
		a.Words[len(a.Words)-1] &= 1<<used - 1
	}
	return a
}

// Noise is a word function that neither repeats nor compresses.
func Noise(i int) uint64 { return umbel.DigestFromHash64(uint64(i)).H2 }

// Zeros is a word function.
func Zeros(int) uint64 { return 0 }

// Ones is a word function.
func Ones(int) uint64 { return ^uint64(0) }

// Sample returns a small state with everything that a container can hold: parameters of
// both types, raw, empty and full blocks, parts of parts.
func Sample(t testing.TB) umbel.State {
	inner := umbel.State{Kind: "inner", Arrays: []cells.Array{Array(t, 3, 16, Noise)}}
	return umbel.State{
		Kind:   "example.org/outer",
		Hasher: umbel.Hasher{Alg: umbel.SipHash, Seed: umbel.SeedFrom([16]byte{1, 2, 15: 16})},
		Params: umbel.Params{{Name: "k", Value: umbel.Uint(7)}, {Name: "rate", Value: umbel.Float(0.01)}},
		Arrays: []cells.Array{Array(t, 70, 1, Noise), Array(t, 9, 8, Ones), Array(t, 100, 2, Zeros), {Width: 4}},
		Parts:  []umbel.State{inner, {Kind: "middle", Parts: []umbel.State{inner}}},
	}
}

// Equal reports whether two states are equal, also in Planned and Tick; nil and empty lists are equal.
func Equal(s, t umbel.State) bool {
	return s.Planned == t.Planned && s.Tick == t.Tick && s.Kind == t.Kind && s.Hasher == t.Hasher && slices.Equal(s.Params, t.Params) &&
		slices.EqualFunc(s.Arrays, t.Arrays, cells.Array.Equal) && slices.EqualFunc(s.Parts, t.Parts, Equal)
}

// Widths are all widths of cells.
var Widths = []uint{1, 2, 4, 8, 16, 32, 64}

// DrawState draws a state that is nested at most depth deep.
func DrawState(t *rapid.T, depth int) umbel.State {
	name := rapid.StringMatching(`[a-z0-9./-]{1,64}`)
	s := umbel.State{Kind: name.Draw(t, "kind"), Hasher: drawHasher(t)}
	for _, n := range rapid.SliceOfNDistinct(name, 0, 4, rapid.ID).Draw(t, "params") {
		v := umbel.Uint(rapid.Uint64().Draw(t, "whole"))
		if rapid.Bool().Draw(t, "is float") {
			v = umbel.Float(rapid.Float64Range(-1e300, 1e300).Draw(t, "float"))
		}
		s.Params = append(s.Params, umbel.Param{Name: n, Value: v})
	}
	for range rapid.IntRange(0, 3).Draw(t, "arrays") {
		s.Arrays = append(s.Arrays, DrawArray(t))
	}
	if depth > 1 {
		for range rapid.IntRange(0, 2).Draw(t, "parts") {
			s.Parts = append(s.Parts, DrawState(t, depth-1))
		}
	}
	return s
}

func drawHasher(t *rapid.T) umbel.Hasher {
	h := umbel.Hasher{Alg: umbel.Alg(rapid.IntRange(int(umbel.XXH3), int(umbel.Caller)).Draw(t, "alg"))}
	switch h.Alg {
	case umbel.XXH3, umbel.XXH64:
		h.Seed = fixture.Seed(rapid.Uint64().Draw(t, "seed"), 0)
	case umbel.SipHash:
		h.Seed = fixture.Seed(rapid.Uint64().Draw(t, "lo"), rapid.Uint64().Draw(t, "hi"))
	}
	return h
}

// DrawArray draws an array of some blocks, each of noise, zeros or ones.
func DrawArray(t *rapid.T) cells.Array {
	width := rapid.SampledFrom(Widths).Draw(t, "width")
	bits := rapid.OneOf(rapid.Uint64Range(0, 300), rapid.Uint64Range(0, 3<<19)).Draw(t, "bits")
	a, err := cells.New(bits/uint64(width), width)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range a.Blocks(1 << 13) {
		word := rapid.SampledFrom([]func(int) uint64{Noise, Zeros, Ones}).Draw(t, "block")
		for i := range b {
			b[i] = word(i)
		}
	}
	if used := a.Len * uint64(width) & 63; used != 0 {
		a.Words[len(a.Words)-1] &= 1<<used - 1
	}
	return a
}

// Container returns fields as a container, with the magic before and the checksum after.
func Container(fields ...any) []byte {
	b := []byte("\x89umbel\n\x01")
	for _, f := range fields {
		switch f := f.(type) {
		case string:
			b = append(b, f...)
		case int:
			b = append(b, byte(f))
		case uint16:
			b = binary.LittleEndian.AppendUint16(b, f)
		case uint64:
			b = binary.LittleEndian.AppendUint64(b, f)
		}
	}
	return Sum(b)
}

// Short returns fields as a short container, with the magic before and the checksum after. A uint64 has variable length.
func Short(fields ...any) []byte {
	b := []byte("\x89u\x03")
	for _, f := range fields {
		switch f := f.(type) {
		case string:
			b = append(b, f...)
		case int:
			b = append(b, byte(f))
		case uint64:
			b = binary.AppendUvarint(b, f)
		}
	}
	return Sum(b)
}

// Sum appends the checksum of b.
func Sum(b []byte) []byte {
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}

// Resum replaces the checksum of b by the right one, in a copy.
func Resum(b []byte) []byte { return Sum(bytes.Clone(b[:len(b)-4])) }

// Allocated returns the bytes that f allocates, including garbage.
func Allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Vectors returns the messages in the vectors of a folder.
func Vectors(t testing.TB, folder string) (all [][][]byte) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*.txt"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d vectors of %s, %v", len(paths), folder, err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var parts [][]byte
		for _, body := range strings.Split(string(text), "\n\n")[1:] {
			b, err := hex.DecodeString(strings.ReplaceAll(body, "\n", ""))
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			parts = append(parts, b)
		}
		all = append(all, parts)
	}
	return all
}

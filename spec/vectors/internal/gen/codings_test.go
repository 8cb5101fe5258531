package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/spec/vectors/internal/vector"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/delta"
	"github.com/umbel-filters/umbel/wire/hashtree"
)

// TestLevels: the vectors of levels contain every level.
func TestLevels(t *testing.T) {
	seen := map[byte]bool{}
	for _, v := range levelArrays() {
		s, err := wire.Parse(v.bytes, wire.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range s.Arrays {
			code := payloadOf(a)
			if seen[code[0]] = true; uint64(len(code)) >= a.Bytes() {
				t.Errorf("level %d: %d bytes, not less than the %d bytes of the words: the block is raw", code[0], len(code), a.Bytes())
			}
		}
	}
	for level := 1; level <= 255; level++ {
		if !seen[byte(level)] {
			t.Errorf("no string of level %d", level)
		}
	}
}

// TestDeltas: each delta gives the result in its header, or is refused with the error in its
// header.
func TestDeltas(t *testing.T) {
	for _, f := range inFolder(t, "deltas") {
		t.Run(f.Path, func(t *testing.T) {
			b, message, err := f.Delta()
			if err != nil {
				t.Fatal(err)
			}
			base, err := wire.Parse(b, wire.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			want, known := sentinels[f.Value("expect")]
			if !known {
				t.Fatalf("expect: %q", f.Value("expect"))
			}
			result, err := delta.Apply(base, message, wire.Limits{})
			if !errors.Is(err, want) {
				t.Fatalf("got %v, want %v", err, want)
			}
			if err != nil {
				return
			}
			info, err := delta.Inspect(message)
			if err != nil || !strings.HasPrefix(f.Value("base"), info.Base.String()) || !strings.HasPrefix(f.Value("id"), info.Result.String()) || info.Kind != f.Value("kind") {
				t.Errorf("Inspect returns %+v, %v", info, err)
			}
			if got := hashtree.Identify(result).String(); got != f.Value("id") {
				t.Errorf("ID %s, want %s", got, f.Value("id"))
			}
			again, err := delta.Append(nil, base, result)
			if err != nil {
				t.Fatal(err)
			}
			if written := f.Value("form") == "written"; written != bytes.Equal(again, message) {
				t.Errorf("form is %s; written again it is\n%s", f.Value("form"), vector.HexLines(again))
			}
		})
	}
}

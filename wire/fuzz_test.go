package wire_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/wire"
)

func FuzzParse(f *testing.F) {
	// Besides the seeds in testdata, the vectors of the specification.
	paths, err := filepath.Glob("../spec/vectors/container/*.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		_, body, _ := strings.Cut(string(text), "\n\n")
		b, err := hex.DecodeString(strings.ReplaceAll(body, "\n", ""))
		if err != nil {
			f.Fatalf("%s: %v", path, err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		parseBothWays(t, b)
		// The fuzzer doesn't find checksums; with one it gets to what lies behind.
		parseBothWays(t, sealed(string(b)))
		parseBothWays(t, sum(bytes.Clone(b)))
	})
}

// parseBothWays checks that Parse and Read agree about b, and that what they
// return can be written and read again.
func parseBothWays(t *testing.T, b []byte) {
	l := wire.Limits{Bytes: 1 << 24, States: 100}
	s, err := wire.Parse(b, l)
	r, readErr := wire.Read(bytes.NewBuffer(b), l)
	if (err == nil) != (readErr == nil) {
		t.Fatalf("Parse: %v, Read: %v", err, readErr)
	}
	if err != nil {
		if !errors.Is(err, umbel.ErrCorrupt) && !errors.Is(err, umbel.ErrLimit) {
			t.Fatalf("error without sentinel: %v", err)
		}
		return
	}
	if !equal(s, r) {
		t.Fatal("Parse and Read differ")
	}
	again, err := wire.Append(nil, s)
	if err != nil {
		t.Fatalf("what was read can't be written: %v", err)
	}
	back, err := wire.Parse(again, l)
	if err != nil || !equal(back, s) || wire.Identify(back) != wire.Identify(s) {
		t.Fatalf("what was written is another state: %v", err)
	}
}

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
	for _, b := range samples(f) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		parseBothWays(t, b)
		// The fuzzer doesn't find checksums; with one it gets to what lies behind.
		parseBothWays(t, sealed(string(b)))
		parseBothWays(t, sum(bytes.Clone(b)))
	})
}

// parseBothWays checks that Parse, Read and Scan agree about b, with workers and
// without, and that what they return can be written and read again.
func parseBothWays(t *testing.T, b []byte) {
	l := wire.Limits{Bytes: 1 << 24, States: 100}
	s, err := wire.Parse(b, l)
	l.Workers = 3
	r, readErr := wire.Read(bytes.NewBuffer(b), l)
	scan, scanErr := scanned(b, l)
	if (err == nil) != (readErr == nil) || (err == nil) != (scanErr == nil) {
		t.Fatalf("Parse: %v, Read: %v, Scan: %v", err, readErr, scanErr)
	}
	if err != nil {
		if !errors.Is(err, umbel.ErrCorrupt) && !errors.Is(err, umbel.ErrLimit) {
			t.Fatalf("error without sentinel: %v", err)
		}
		return
	}
	if !equal(s, r) || !equal(s, scan) {
		t.Fatal("Parse, Read and Scan differ")
	}
	for name, write := range map[string]func([]byte, umbel.State) ([]byte, error){
		"plain": wire.Append, "packed": wire.Packer{}.Append,
	} {
		again, err := write(nil, s)
		if err != nil {
			t.Fatalf("%s: what was read can't be written: %v", name, err)
		}
		if most := wire.Size(s); uint64(len(again)) > most {
			t.Fatalf("%s: %d bytes, Size says %d", name, len(again), most)
		}
		back, err := wire.Parse(again, l)
		if err != nil || !equal(back, s) || wire.Identify(back) != wire.Identify(s) {
			t.Fatalf("%s: what was written is another state: %v", name, err)
		}
	}
}

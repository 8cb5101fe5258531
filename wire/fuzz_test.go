package wire_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/hashtree"
	"github.com/umbel-filters/umbel/wire/internal/wiretest"
)

func FuzzParse(f *testing.F) {
	// Besides the seeds in testdata, the vectors of the specification.
	for _, folder := range []string{"container", "codings"} {
		for _, parts := range wiretest.Vectors(f, "../spec/vectors/"+folder) {
			f.Add(parts[0])
		}
	}
	for _, b := range samples(f) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		parseBothWays(t, b)
		// The fuzzer doesn't find checksums. With a correct one it reaches the code behind the check.
		parseBothWays(t, wiretest.Container(string(b)))
		parseBothWays(t, wiretest.Short(string(b)))
		parseBothWays(t, wiretest.Sum(bytes.Clone(b)))
	})
}

// parseBothWays checks that Parse, View, Read and ReadBlocks agree about b, with workers and without, and
// that the result can be written and read again.
func parseBothWays(t *testing.T, b []byte) {
	l := wire.Limits{Bytes: 1 << 24}
	s, err := wire.Parse(b, l)
	l.Workers = 3
	r, readErr := wire.Read(bytes.NewBuffer(b), l)
	blocks, blocksErr := assembled(b, l)
	view, viewErr := wire.View(b, l)
	if (err == nil) != (readErr == nil) || (err == nil) != (blocksErr == nil) {
		t.Fatalf("Parse: %v, Read: %v, ReadBlocks: %v", err, readErr, blocksErr)
	}
	if (err == nil) != (viewErr == nil) && !errors.Is(err, umbel.ErrLimit) { // View borrows what Parse has no memory for
		t.Fatalf("Parse: %v, View: %v", err, viewErr)
	}
	viewAligned(t, b, l)
	if err != nil {
		if !errors.Is(err, umbel.ErrCorrupt) && !errors.Is(err, umbel.ErrLimit) {
			t.Fatalf("error without sentinel: %v", err)
		}
		return
	}
	if !wiretest.Equal(s, r) || !wiretest.Equal(s, blocks) || !wiretest.Equal(s, view) {
		t.Fatal("Parse, View, Read and ReadBlocks differ")
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
		if err != nil || !wiretest.Equal(back, s) || hashtree.Identify(back) != hashtree.Identify(s) {
			t.Fatalf("%s: what was written is another state: %v", name, err)
		}
	}
}

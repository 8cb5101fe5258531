package filter_test

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/delta"
)

// readmeFilter contains the first sample of README.md.
func readmeFilter(file io.Writer, ids []uint64) (*bloom.Filter, bool, error) {
	f, err := bloom.New(1_000_000, 0.01) // keys, false-positive rate
	if err != nil {
		return nil, false, err
	}
	f.AddString("alice")
	ok := f.HasString("bob")
	f.AddUint64s(ids)        // many keys at once
	_, err = f.WriteTo(file) // and ReadFrom, MarshalBinary, UnmarshalBinary
	return f, ok, err
}

// readmeMessages contains the second sample.
func readmeMessages(t *testing.T, f *bloom.Filter, limits wire.Limits) *bloom.Filter {
	check := func(err error) {
		if t.Helper(); err != nil {
			t.Fatal(err)
		}
	}
	sent := f.State().Clone()
	f.AddString("carol")
	message, err := wire.Packer{}.Append(nil, sent) // close to the entropy of its cells
	check(err)
	update, err := delta.Append(nil, sent, f.State()) // what was added since
	check(err)
	state, err := wire.Parse(message, limits) // at the receiver
	check(err)
	state, err = delta.Apply(state, update, limits) // the sender's state, checked by its ID
	check(err)
	g, err := bloom.Open(state)
	check(err)
	return g
}

// The samples of README.md are compiled here, line by line, and do what they say.
func TestReadmeSamples(t *testing.T) {
	var file bytes.Buffer
	f, ok, err := readmeFilter(&file, []uint64{1, 2, 3})
	if err != nil || ok || !f.HasString("alice") || !f.HasUint64(3) {
		t.Errorf("the first sample: bob is %v, error %v", ok, err)
	}
	if g := readmeMessages(t, f, wire.Limits{}); !g.Equal(f) || !g.HasString("carol") {
		t.Error("the second sample: the receiver's filter differs from the sender's")
	}

	source, err := os.ReadFile("readme_test.go")
	if err != nil {
		t.Fatal(err)
	}
	compiled := make(map[string]bool)
	for line := range strings.Lines(string(source)) {
		compiled[words(line)] = true
	}
	page, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	lines, inSample := 0, false
	for line := range strings.Lines(string(page)) {
		switch line = words(line); {
		case strings.HasPrefix(line, "```"):
			inSample = line == "```go"
		case inSample && line != "return err": // the functions here return more
			lines++
			if !compiled[line] {
				t.Errorf("README.md has a line that is not compiled here: %s", line)
			}
		}
	}
	if lines < 10 {
		t.Errorf("README.md has %d lines of Go, want at least 10", lines)
	}
}

// words returns a line with single spaces.
func words(line string) string { return strings.Join(strings.Fields(line), " ") }

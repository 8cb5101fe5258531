package build

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/internal/race"
	"github.com/umbel-filters/umbel/wire/hashtree"
)

// repeatedFile writes n different keys to a file, each of them the given number of times.
func repeatedFile(t *testing.T, n, times int) *os.File {
	t.Helper()
	var b bytes.Buffer
	for range times {
		for i := range n {
			fmt.Fprintf(&b, "key %d\n", i)
		}
	}
	name := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(name, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// piped returns a pipe with the contents of a file.
func piped(t *testing.T, file *os.File) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		io.Copy(w, file)
		w.Close()
	}()
	t.Cleanup(func() { r.Close() })
	return r
}

// A filter is as large as its different keys need, and contains the repetitions if it counts.
func TestRepetitions(t *testing.T) {
	const n, times = 1500, 4
	for _, v := range filter.All {
		want, err := order(v, umbel.Goal{Keys: n, FPRate: 0.01}).Make([]*os.File{repeatedFile(t, n, times)})
		if err != nil {
			t.Fatal(err)
		}
		for name, file := range map[string]*os.File{"file": repeatedFile(t, n, times), "pipe": piped(t, repeatedFile(t, n, times))} {
			made, err := order(v, umbel.Goal{}).Make([]*os.File{file})
			if err != nil {
				t.Fatalf("%s of %s: %v", name, v.Name, err)
			}
			if made.Read != n*times || made.Distinct != n || made.Estimated {
				t.Errorf("%s of %s: %d keys read, %d distinct, estimated %v", name, v.Name, made.Read, made.Distinct, made.Estimated)
			}
			if hashtree.Identify(made.Filter.State()) != hashtree.Identify(want.Filter.State()) {
				t.Errorf("%s of %s: not the filter that --keys makes", name, v.Name)
			}
		}
	}
}

// If there is no memory for the different keys of a file, they are estimated. The filter is planned for
// no fewer, and its rate holds.
func TestEstimated(t *testing.T) {
	race.Skip(t, "makes many filters, in one goroutine")
	const n, times = 60_000, 3
	for _, v := range filter.All {
		tight, err := v.Plan(umbel.Goal{Keys: n, FPRate: 0.01}, nil)
		if err != nil {
			t.Fatal(err)
		}
		made, err := order(v, umbel.Goal{}).Make([]*os.File{repeatedFile(t, n, times)})
		if err != nil {
			t.Errorf("%s: %v", v.Name, err)
			continue
		}
		mustHaveAll(t, made.Filter, n)
		s := made.Filter.Stats()
		if d := float64(made.Distinct); made.Read != n*times || !made.Estimated || d < n*(1-margin) || d > n*(1+margin) {
			t.Errorf("%s: %d keys read, %d distinct, estimated %v", v.Name, made.Read, made.Distinct, made.Estimated)
		}
		if s.FPRate > 0.0101 || float64(s.Bytes) > 1.05*float64(tight.Bytes) {
			t.Errorf("%s: rate %.4g, %d bytes, planned %d", v.Name, s.FPRate, s.Bytes, tight.Bytes)
		}
	}
}

// The number of keys for a filter elsewhere is that of the different ones, and the files can be read again.
func TestSized(t *testing.T) {
	for _, n := range []int{0, 1000, 30_000} {
		file := repeatedFile(t, n, 2)
		o, sized, err := order(filter.All[0], umbel.Goal{}).Sized([]*os.File{file})
		if got := float64(o.Goal.Keys); err != nil || !sized || got < float64(n) || got > max(float64(n)*(1+2*margin), 1) || o.Goal.FPRate != 0.01 {
			t.Errorf("%d keys: %+v, %v, %v", n, o.Goal, sized, err)
		}
		if at, err := file.Seek(0, io.SeekCurrent); at != 0 || err != nil {
			t.Errorf("the file is at %d, %v", at, err)
		}
	}
}

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
	"github.com/umbel-filters/umbel/internal/distinct"
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

// The number of keys for a filter elsewhere is that of the different ones, and the files can be read again.
func TestSized(t *testing.T) {
	for _, n := range []int{0, 1000, 30_000} {
		file := repeatedFile(t, n, 2)
		o, sized, err := order(filter.All[0], umbel.Goal{}).Sized([]*os.File{file})
		if got := float64(o.Goal.Keys); err != nil || !sized || got < float64(n) || got > max(float64(n)*(1+2*distinct.Margin), 1) || o.Goal.FPRate != 0.01 {
			t.Errorf("%d keys: %+v, %v, %v", n, o.Goal, sized, err)
		}
		if at, err := file.Seek(0, io.SeekCurrent); at != 0 || err != nil {
			t.Errorf("the file is at %d, %v", at, err)
		}
	}
}

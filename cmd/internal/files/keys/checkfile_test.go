package keys

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// CheckFile decides as a reader does, and leaves the position of the file. Pipes pass.
func TestCheckFile(t *testing.T) {
	for _, c := range []struct {
		name, content string
		format        Format
		binary        bool
	}{
		{"empty", "", Lines, false},
		{"text", "alice\nbob\n", Lines, false},
		{"gzip", "\x1f\x8b\x08\x00", Lines, true},
		{"gzip as text", "\x1f\x8b\x08\x00", Format{Separator: '\n', Binary: true}, false},
		{"zero bytes", "alice\x00bob\x00", Lines, true},
		{"keys that end at zero bytes", "alice\x00bob\x00", NUL, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f")
			if err := os.WriteFile(path, []byte(c.content), 0o666); err != nil {
				t.Fatal(err)
			}
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			err = CheckFile(f, c.format)
			if _, binary := errors.AsType[*BinaryError](err); binary != c.binary || err != nil != c.binary {
				t.Errorf("error %v, want a *BinaryError: %v", err, c.binary)
			}
			if at, err := f.Seek(0, io.SeekCurrent); at != 0 || err != nil {
				t.Errorf("the position is %d, %v, want 0", at, err)
			}
		})
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if err := CheckFile(r, Lines); err != nil {
		t.Errorf("a pipe: %v", err)
	}
}

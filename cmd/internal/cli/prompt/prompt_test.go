package prompt

import (
	"io"
	"os"
	"path/filepath"
	"testing"
)

// Lines of a file are returned unchanged with any line ending; the last needs none.
func TestPlainLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lines")
	if err := os.WriteFile(path, []byte("one\n\ntwo words\r\nlast"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := New(f, os.Stdout, nil)
	if r.Interactive() {
		t.Error("a file is taken for somebody")
	}
	for _, want := range []string{"one", "", "two words", "last"} {
		if got, err := r.Line("> "); got != want || err != nil {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	if _, err := r.Line("> "); err != io.EOF {
		t.Errorf("at the end the error is %v, want %v", err, io.EOF)
	}
}

// Tab completes the first word as far as it is certain.
func TestComplete(t *testing.T) {
	complete := completer([]string{"save", "show", "size", "insert"})
	for _, c := range []struct {
		line string
		pos  int
		want string
		at   int
	}{
		{"i", 1, "insert ", 7},
		{"s", 1, "s", 1},
		{"sh", 2, "show ", 5},
		{"shalice", 2, "show alice", 5},
		{"x", 1, "x", 1},
		{"", 0, "", 0},
		{"insert al", 9, "insert al", 9},
	} {
		line, at, ok := complete(c.line, c.pos, '\t')
		if line != c.want || at != c.at || !ok {
			t.Errorf("%q at %d becomes %q at %d, %v; want %q at %d", c.line, c.pos, line, at, ok, c.want, c.at)
		}
	}
	if _, _, ok := complete("i", 1, 'n'); ok {
		t.Error("a letter is taken for Tab")
	}
}

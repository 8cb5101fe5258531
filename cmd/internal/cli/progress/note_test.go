package progress

import (
	"bytes"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

func TestNote(t *testing.T) {
	for _, c := range []struct {
		name string
		took time.Duration
		want string
	}{
		{"short", patience - 1, ""},
		{"long", patience + 1, "comparing…\r\x1b[K"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var w bytes.Buffer
			stop := note(&w, "comparing")
			time.Sleep(c.took)
			synctest.Wait()
			stop()
			stop()
			time.Sleep(patience)
			if got := w.String(); got != c.want {
				t.Errorf("%s: wrote %q, want %q", c.name, got, c.want)
			}
		})
	}
}

func TestBarOfAFile(t *testing.T) {
	f, err := os.Create(t.TempDir() + "/f")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var w bytes.Buffer
	b := start(&w, "writing", 9, true)
	if _, err := b.Writer(f).Write([]byte("alice")); err != nil {
		t.Fatal(err)
	}
	r := b.File(f)
	if _, err := r.Seek(1, 0); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 4)
	if n, err := r.Read(got); n != 4 || string(got) != "lice" || err != nil {
		t.Errorf("%q, %v", got[:n], err)
	}
	if got := b.done.Load(); got != 9 {
		t.Errorf("the bar counted %d bytes, want 5 written and 4 read", got)
	}
}

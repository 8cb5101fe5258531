package progress

import (
	"bytes"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

func TestShortJobsShowNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w bytes.Buffer
		b := start(&w, "keys", 1000, true)
		time.Sleep(patience - 1)
		b.Add(500)
		b.Stop()
		if w.Len() > 0 {
			t.Errorf("wrote %q", w.String())
		}
	})
}

// A long job shows its bar at most ten times a second, and nothing is left of it on the terminal.
func TestLongJobsShowABar(t *testing.T) {
	const clear = "\r\x1b[K"
	for _, c := range []struct {
		name  string
		total int64
		bytes bool
		want  string
	}{
		{"bytes", 8192, true, "\rkeys [██                  ] 1.00 KiB/8.00 KiB, 1.90 KiB/s, 4s left\x1b[K" +
			"\rkeys [████████            ] 3.50 KiB/8.00 KiB, 2.92 KiB/s, 2s left\x1b[K" + clear},
		{"items", 2048, false, "\rkeys [██████████          ] 1,024/2,048, 1,950/s, 1s left\x1b[K" +
			"\rkeys [████████████████████] 3,584/2,048, 2,986/s, 0s left\x1b[K" + clear},
		{"unknown", -1, true, "\rkeys 1.00 KiB, 1.90 KiB/s\x1b[K\rkeys 3.50 KiB, 2.92 KiB/s\x1b[K" + clear},
	} {
		synctest.Test(t, func(t *testing.T) {
			var w bytes.Buffer
			b := start(&w, "keys", c.total, c.bytes)
			time.Sleep(patience + 25*time.Millisecond)
			b.Add(1024)
			time.Sleep(interval - 1)
			b.Add(1024)
			time.Sleep(patience + 75*time.Millisecond)
			b.Add(1536)
			b.Stop()
			time.Sleep(interval)
			b.Add(1) // the workers may be a little late
			b.Stop()
			if got := w.String(); got != c.want {
				t.Errorf("%s: wrote %q, want %q", c.name, got, c.want)
			}
		})
	}
}

func TestFilesShowNothing(t *testing.T) {
	f, err := os.Create(t.TempDir() + "/f")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := Start(f, "keys", 1)
	b.Add(1)
	b.Stop()
	if b != nil {
		t.Error("a file got a bar")
	}
}

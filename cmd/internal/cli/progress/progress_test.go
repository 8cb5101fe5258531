package progress

import (
	"bytes"
	"os"
	"strings"
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

func TestLongJobsShowABar(t *testing.T) {
	for _, total := range []int64{10_000, -1} {
		synctest.Test(t, func(t *testing.T) {
			var w bytes.Buffer
			b := start(&w, "keys", total, true)
			for range 3 {
				time.Sleep(patience)
				b.Add(1024)
			}
			if got := w.String(); !strings.Contains(got, "keys") || !strings.Contains(got, "B/s") || !strings.Contains(got, "KiB") {
				t.Errorf("total %d: wrote %q, want a bar in KiB with its rate", total, got)
			}
			b.Stop()
			b.Add(1) // the workers may be a little late
			b.Stop()
		})
	}
}

func TestThingsArentBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w bytes.Buffer
		b := start(&w, "trees", 300, false)
		for range 3 {
			time.Sleep(patience)
			b.Add(100)
		}
		b.Stop()
		if got := w.String(); !strings.Contains(got, "200/300") || strings.Contains(got, "B/s") {
			t.Errorf("wrote %q, want trees", got)
		}
	})
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

package main

import (
	"cmp"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const recorded = "../../docs/pictures/session.svg"

// The recording shows the commands of the session, and each of them is accepted by the present umbel.
func TestRecordingIsCurrent(t *testing.T) {
	b, err := os.ReadFile(recorded)
	if err != nil {
		t.Fatal(err)
	}
	if len(b) > 300_000 {
		t.Errorf("the recording has %d bytes, want at most 300,000", len(b))
	}
	for d := xml.NewDecoder(strings.NewReader(string(b))); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	bin := t.TempDir()
	if err := build(bin); err != nil {
		t.Fatal(err)
	}
	for _, s := range session {
		if !strings.Contains(string(b), ">"+prompt+escape(s.command)+"<") {
			t.Errorf("the recording does not show %q: run make recording", s.command)
		}
		// With --help, flags before it are checked and nothing is done.
		call := cmp.Or(s.program, s.command)
		program := "demo"
		if _, after, ok := strings.Cut(call, "umbel "); ok {
			program, call = "umbel", after
		} else {
			call = strings.TrimPrefix(call, "demo ")
		}
		call, _, _ = strings.Cut(call, "|")
		if out, err := exec.Command(filepath.Join(bin, program), append(strings.Fields(call), "--help")...).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", s.command, err, out)
		}
	}
}

// A line that stays is one interval, and a line that changes is one for each of its texts.
func TestIntervals(t *testing.T) {
	var f film
	f.show([]string{"a"}, time.Second)
	f.show([]string{"a", "b"}, time.Second)
	f.show([]string{"a", "c"}, 2*time.Second)
	f.show([]string{"d"}, time.Second)
	want := []interval{
		{1, "b", time.Second, 2 * time.Second}, {0, "a", 0, 4 * time.Second},
		{1, "c", 2 * time.Second, 4 * time.Second}, {0, "d", 4 * time.Second, 5 * time.Second},
	}
	if got := f.intervals(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

package cachelog

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestSquid(t *testing.T) {
	for line, want := range map[string]string{
		"1732665600.123 RELEASE 00 0000001A 5C4B9B2E0A1F3D7C6E8A9B0C1D2E3F40  200 1732665500 1732665000 1732669100 text/plain 10/10 GET http://www.example.org/a?b=c": "http://www.example.org/a?b=c",
		"1732665600.123 SWAPOUT 00 0000001A 5C4B9B2E0A1F3D7C6E8A9B0C1D2E3F40  200 1732665500 1732665000 1732669100 text/plain 10/10 GET http://www.example.org/a":     "",
		"1732665600.123 RELEASE -1 FFFFFFFF 5C4B9B2E0A1F3D7C6E8A9B0C1D2E3F40  504 1732665500        -1        -1 text/plain 10/10 GET http://www.example.org/a":       "",
		"1732665600.123 RELEASE 00 0000001A 5C4B9B2E0A1F3D7C6E8A9B0C1D2E3F40  200 1732665500 0 -1 text/plain 10/10 POST http://www.example.org/a":                     "",
		"": "", "RELEASE": "",
	} {
		if got, ok := Squid(line); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v, want %q", line, got, ok, want)
		}
	}
}

func TestVarnish(t *testing.T) {
	for line, want := range map[string]uint64{
		"         0 ExpKill        - EXP_Removed x=32770 t=1732665610.123 h=1": 32770,
		"         0 ExpKill        - EXP_Expired x=7 t=-3 h=0":                 7,
		"         0 ExpKill        - LRU xid=12":                               12,
		"         0 ExpKill        - LRU x=13":                                 13,
		"         0 ExpKill        - LRU_Cand p=0x7f f=0x0 r=1":                0,
		"         0 ExpKill        - EXP_Inspect p=0x1 e=1 f=0x1":              0,
		"         0 CLI            - Rd ping":                                  0,
		"":                                                                     0,
	} {
		if got, ok := Varnish(line); got != want || ok != (want != 0) {
			t.Errorf("%q: %d, %v, want %d", line, got, ok, want)
		}
	}
}

func FuzzLines(f *testing.F) {
	f.Add("1732665600.123 RELEASE 00 0000001A 5C4B  200 1 2 3 text/plain 10/10 GET http://www.example.org/a")
	f.Add("         0 ExpKill        - EXP_Removed x=32770 t=1732665610.123 h=1")
	f.Fuzz(func(t *testing.T, line string) {
		if url, ok := Squid(line); ok && !strings.Contains(line, url) {
			t.Errorf("%q is not in %q", url, line)
		}
		Varnish(line)
	})
}

// Lines that are appended arrive, across a rotation and a truncation, and a line arrives when it is complete.
func TestFollow(t *testing.T) {
	name := filepath.Join(t.TempDir(), "store.log")
	write := func(text string) {
		t.Helper()
		f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	write("old\n")
	lines := make(chan string, 10)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- Follow(ctx, name, func(line string) { lines <- line }) }()
	var got []string
	await := func(n int) {
		t.Helper()
		for len(got) < n {
			select {
			case line := <-lines:
				got = append(got, line)
			case <-time.After(time.Minute):
				t.Fatalf("lines %q, want %d", got, n)
			}
		}
	}
	for follows := false; !follows; {
		write("first\n")
		select {
		case <-lines:
			follows = true
		case <-time.After(50 * time.Millisecond):
		}
	}
	for write("last\n"); <-lines != "last"; {
	}
	write("a\nb")
	await(1)
	write("\n" + strings.Repeat("x", 2*maxLine) + "\nc\n")
	await(3)
	if err := os.Rename(name, name+".1"); err != nil {
		t.Fatal(err)
	}
	write("d\n")
	await(4)
	if err := os.Truncate(name, 0); err != nil {
		t.Fatal(err)
	}
	write("\n") // less than before: a file that is as long as it was is not known to be another one
	await(5)
	write("e\n")
	await(6)
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if want := []string{"a", "b", "c", "d", "", "e"}; !slices.Equal(got, want) {
		t.Errorf("lines %q, want %q", got, want)
	}
}

// A line that is too long is skipped as a whole, also if a part of it was there before the rest.
func TestFollowLongLine(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "store.log")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var got []string
	offset, skip := int64(0), false
	for _, text := range []string{strings.Repeat("x", 2*maxLine), "y", "y\na\n", "b\n"} {
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
		read, err := appended(f, offset, &skip, func(line string) { got = append(got, line) })
		if err != nil {
			t.Fatal(err)
		}
		offset += read
	}
	if want := []string{"a", "b"}; !slices.Equal(got, want) {
		t.Errorf("lines %q, want %q", got, want)
	}
}

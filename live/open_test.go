package live_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/blocked"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/filter/window"
	"github.com/umbel-filters/umbel/live"
)

// A file that cannot be the filter that was requested is refused with the reason, is not changed, and is not locked then.
func TestRefused(t *testing.T) {
	seeded := umbel.Hasher{Alg: umbel.SipHash, Seed: umbel.SeedFrom([16]byte([]byte("0123456789abcdef")))}
	goal := func(h umbel.Hasher) umbel.Goal { return umbel.Goal{Keys: 100, FPRate: 0.01, Hasher: h} }
	number := func(name string, n uint64) umbel.Params { return umbel.Params{{Name: name, Value: umbel.Uint(n)}} }
	hour := live.Options{Window: time.Hour}
	byKeys := live.Options{Params: number("by-keys", 1)}
	k3, k4 := live.Options{Params: number("k", 3)}, live.Options{Params: number("k", 4)}
	twice := live.Options{Window: time.Hour, Params: number("window", 3600)}
	for _, c := range []struct {
		what       string
		made, want umbel.Kind
		h1, h2     umbel.Hasher
		o1, o2     live.Options
		sentinel   error
	}{
		{what: "as it was", made: bloom.Kind, want: bloom.Kind},
		{what: "a window as it was", made: window.Kind, want: window.Kind, o1: hour, o2: hour},
		{what: "a window by keys as it was", made: window.Kind, want: window.Kind, o1: byKeys, o2: byKeys},
		{what: "a parameter as it was", made: bloom.Kind, want: bloom.Kind, o1: k3, o2: k3},
		{what: "another kind", made: bloom.Kind, want: blocked.Kind, sentinel: umbel.ErrMismatch},
		{what: "another seed", made: bloom.Kind, want: bloom.Kind, h1: seeded, sentinel: umbel.ErrMismatch},
		{what: "another hash", made: bloom.Kind, want: bloom.Kind, h2: umbel.Hasher{Alg: umbel.XXH64}, sentinel: umbel.ErrMismatch},
		{what: "another k", made: bloom.Kind, want: bloom.Kind, o1: k3, o2: k4, sentinel: umbel.ErrMismatch},
		{what: "a longer window", made: window.Kind, want: window.Kind, o1: hour, o2: live.Options{Window: 2 * time.Hour}, sentinel: umbel.ErrMismatch},
		{what: "a shorter window", made: window.Kind, want: window.Kind, o1: hour, o2: live.Options{Window: 55 * time.Minute}, sentinel: umbel.ErrMismatch},
		{what: "a window by keys", made: window.Kind, want: window.Kind, o1: hour, o2: byKeys, sentinel: umbel.ErrMismatch},
		{what: "a window by time", made: window.Kind, want: window.Kind, o1: byKeys, o2: hour, sentinel: umbel.ErrMismatch},
		{what: "a window of a kind without time", made: bloom.Kind, want: bloom.Kind, o2: hour, sentinel: umbel.ErrGoal},
		{what: "no window", made: window.Kind, want: window.Kind, o1: hour, sentinel: umbel.ErrGoal},
		{what: "two windows", made: window.Kind, want: window.Kind, o1: hour, o2: twice, sentinel: umbel.ErrGoal},
		{what: "an unknown parameter", made: bloom.Kind, want: bloom.Kind, o2: live.Options{Params: number("width", 8)}, sentinel: umbel.ErrGoal},
	} {
		path := filepath.Join(t.TempDir(), "filter.umb")
		f, err := live.Open(path, c.made, goal(c.h1), c.o1)
		if err != nil {
			t.Fatalf("%s: %v", c.what, err)
		}
		f.AddString("a")
		must(t, f.Close())
		before, err := os.ReadFile(path)
		must(t, err)
		f, err = live.Open(path, c.want, goal(c.h2), c.o2)
		if !errors.Is(err, c.sentinel) || (err == nil) != (c.sentinel == nil) {
			t.Errorf("%s: %v, want %v", c.what, err, c.sentinel)
		}
		if err == nil {
			must(t, f.Close())
		} else if bytes.Contains([]byte(err.Error()), []byte("0123456789abcdef")) {
			t.Errorf("%s: %v has the seed", c.what, err)
		}
		after, err := os.ReadFile(path)
		must(t, err)
		if !bytes.Equal(before, after) {
			t.Errorf("%s: the file changed", c.what)
		}
		must(t, open(t, path, c.made, goal(c.h1), c.o1).Close())
	}
}

// A damaged file is refused, and stays for whoever can mend it.
func TestDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "filter.umb")
	f := open(t, path, bloom.Kind, small, live.Options{})
	f.AddString("a")
	must(t, f.Close())
	whole, err := os.ReadFile(path)
	must(t, err)
	damaged := bytes.Clone(whole)
	damaged[len(damaged)/2] ^= 1
	for what, b := range map[string][]byte{"a bit": damaged, "the end is missing": whole[:len(whole)-1], "text": []byte("https://example.org\n")} {
		must(t, os.WriteFile(path, b, 0o666))
		if _, err := live.Open(path, bloom.Kind, small, live.Options{}); !errors.Is(err, umbel.ErrCorrupt) {
			t.Errorf("%s: %v, want ErrCorrupt", what, err)
		}
		if got, err := os.ReadFile(path); !bytes.Equal(got, b) || err != nil {
			t.Errorf("%s: the file changed", what)
		}
	}
	must(t, os.WriteFile(path, nil, 0o666)) // as mktemp makes one
	must(t, open(t, path, bloom.Kind, small, live.Options{}).Close())
}

// What cannot be written is refused when it is opened, and leaves nothing behind.
func TestRefusedPaths(t *testing.T) {
	dir := t.TempDir()
	readOnly := filepath.Join(dir, "read-only")
	must(t, os.Mkdir(readOnly, 0o555))
	for _, c := range []struct {
		path     string
		sentinel error
	}{
		{filepath.Join(dir, "none", "filter.umb"), fs.ErrNotExist},
		{dir, nil}, {os.DevNull, nil}, {"", nil},
		{filepath.Join(readOnly, "filter.umb"), fs.ErrPermission},
	} {
		if c.path == filepath.Join(readOnly, "filter.umb") && (os.Geteuid() == 0 || runtime.GOOS == "windows") {
			continue
		}
		if f, err := live.Open(c.path, bloom.Kind, small, live.Options{}); err == nil || c.sentinel != nil && !errors.Is(err, c.sentinel) {
			t.Errorf("%q: %v, want %v", c.path, err, c.sentinel)
			if err == nil {
				f.Close()
			}
		}
	}
	if _, err := live.Open(filepath.Join(dir, "filter.umb"), bloom.Kind, umbel.Goal{Keys: 10}, live.Options{}); !errors.Is(err, umbel.ErrGoal) {
		t.Errorf("an incomplete goal: %v", err)
	}
	if left, err := os.ReadDir(dir); len(left) != 1 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// One filter at a time has a file, by any of its names, also after many saves and if it did not exist.
func TestLocked(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files are not locked there")
	}
	path := filepath.Join(t.TempDir(), "filter.umb")
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(path, link))
	f := open(t, link, bloom.Kind, small, live.Options{})
	for range 3 {
		for _, name := range []string{path, link} {
			if _, err := live.Open(name, bloom.Kind, small, live.Options{}); !errors.Is(err, live.ErrLocked) {
				t.Errorf("%s: %v, want ErrLocked", name, err)
			}
		}
		f.AddString("a")
		must(t, f.Save())
	}
	must(t, f.Close())
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info, err)
	}
	f = open(t, path, bloom.Kind, small, live.Options{})
	if !f.HasString("a") {
		t.Error("the key is missing")
	}
}

// A new file is readable as the umask says, one with a secret seed by its owner only, and others keep their permissions.
func TestPermissions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("permissions are others there")
	}
	secret := small
	secret.Hasher = umbel.Hasher{Alg: umbel.SipHash, Seed: umbel.SeedFrom([16]byte([]byte("0123456789abcdef")))}
	plain := filepath.Join(t.TempDir(), "plain")
	must(t, os.WriteFile(plain, nil, 0o666))
	usual, err := os.Stat(plain)
	must(t, err)
	for _, c := range []struct {
		g         umbel.Goal
		mode, set fs.FileMode
	}{{small, usual.Mode(), 0}, {secret, 0o600, 0}, {small, 0o640, 0o640}, {secret, 0o644, 0o644}} {
		path := filepath.Join(t.TempDir(), "filter.umb")
		must(t, open(t, path, bloom.Kind, c.g, live.Options{}).Close())
		if c.set != 0 {
			must(t, os.Chmod(path, c.set))
		}
		f := open(t, path, bloom.Kind, c.g, live.Options{})
		f.AddString("a")
		must(t, f.Close())
		if info, err := os.Stat(path); err != nil || info.Mode() != c.mode {
			t.Errorf("%v: mode %v, %v, want %v", c.g.Hasher, info.Mode(), err, c.mode)
		}
	}
}

// A file for another goal stays as it is, with a message. The same goal makes none.
func TestOtherGoal(t *testing.T) {
	for _, kind := range filter.All {
		path := filepath.Join(t.TempDir(), "filter.umb")
		f := open(t, path, kind, small, idle(kind))
		f.Add(digest(1))
		want := f.Status().Planned
		must(t, f.Close())
		for _, c := range []struct {
			g        umbel.Goal
			messages int
		}{{small, 0}, {umbel.Goal{Keys: 3 * small.Keys, FPRate: small.FPRate}, 1}, {umbel.Goal{Keys: small.Keys, FPRate: small.FPRate / 2}, 1}} {
			log, o := &events{}, idle(kind)
			o.Log = log.logger()
			f := open(t, path, kind, c.g, o)
			if n := log.count("the file was made for another goal and stays as it is"); n != c.messages || f.Status().Planned != want || !f.Has(digest(1)) {
				t.Errorf("%s for %d keys at %v: %d messages, want %d; planned for %+v", kind.Name, c.g.Keys, c.g.FPRate, n, c.messages, f.Status().Planned)
			}
			must(t, f.Close())
		}
	}
}

// Goals with bytes are the same goal when the file is opened again.
func TestSameGoal(t *testing.T) {
	for _, g := range []umbel.Goal{{Keys: 2000, Bytes: 4096}, {FPRate: 0.01, Bytes: 4096}} {
		for _, kind := range filter.All {
			path, log, o := filepath.Join(t.TempDir(), "filter.umb"), &events{}, idle(kind)
			f, err := live.Open(path, kind, g, o)
			if err != nil {
				continue // not every kind plans for bytes
			}
			must(t, f.Close())
			o.Log = log.logger()
			must(t, open(t, path, kind, g, o).Close())
			if len(log.n) > 0 {
				t.Errorf("%s, %+v: %v", kind.Name, g, log.n)
			}
		}
	}
}

// A relative path is that of the directory in which the file was opened.
func TestChangedDirectory(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	t.Chdir(first)
	f := open(t, "filter.umb", bloom.Kind, small, live.Options{})
	t.Chdir(second)
	f.AddString("a")
	must(t, f.Close())
	if in := inFile(t, filepath.Join(first, "filter.umb")); !in.Has(in.Hasher().HashString("a")) {
		t.Error("the key is missing")
	}
	if left, err := os.ReadDir(second); len(left) > 0 || err != nil {
		t.Errorf("written to the present directory: %v, %v", left, err)
	}
}

// A key is present for the window after it was last seen and expires after a generation more, whatever the system's clock does,
// in a process and over restarts. Times of a log are taken as they are.
func TestWindow(t *testing.T) {
	for _, w := range []time.Duration{10 * time.Second, 10 * time.Minute, 36 * time.Hour} {
		each(t, fmt.Sprint(w), func(t *testing.T) {
			o := live.Options{Window: w, Every: -1}
			path := filepath.Join(t.TempDir(), "filter.umb")
			f := open(t, path, window.Kind, small, o)
			for _, c := range []struct {
				passed time.Duration
				want   bool
			}{{0, false}, {w / 2, true}, {w - w/100, true}, {w, true}, {3 * w, false}} {
				time.Sleep(c.passed)
				if got := f.SeenString("a", time.Now()); got != c.want {
					t.Errorf("after %v: %v, want %v", c.passed, got, c.want)
				}
				// A wall clock that was set by a year, in either direction: the monotonic one goes on.
				if year := 365 * 24 * time.Hour; !f.SeenString("a", time.Now().Add(-year)) {
					t.Error("a time that goes back expires keys")
				}
			}
			f.AddString("b")
			time.Sleep(w - time.Second)
			if !f.HasString("b") {
				t.Error("b expired early")
			}
			must(t, f.Close())
			f = open(t, path, window.Kind, small, o)
			time.Sleep(2*w + 2*time.Second)
			if f.HasString("a") || f.HasString("b") {
				t.Error("keys did not expire over a restart")
			}
			// Lines of a log that is older than the file: their time is that of the file.
			must(t, f.Close())
			f = open(t, path, window.Kind, small, o)
			old := time.Now().Add(-100 * w).Round(0)
			for i := range 100 {
				at := old.Add(time.Duration(i) * w / 10)
				if f.SeenString("c", at) != (i > 0) {
					t.Errorf("line %d of an old log", i)
				}
			}
			synctest.Wait()
			must(t, f.Close())
		})
	}
}

// Estimates of windows follow what expires.
func TestWindowEstimates(t *testing.T) {
	each(t, "", func(t *testing.T) {
		o := live.Options{Window: time.Hour, Every: -1}
		f := open(t, filepath.Join(t.TempDir(), "filter.umb"), window.Kind, umbel.Goal{Keys: 20_000, FPRate: 0.01}, o)
		for i := range uint64(400) {
			time.Sleep(time.Minute)
			for j := range 10 * (i%37 + 1) {
				f.Add(digest(1000*i + j))
			}
			synctest.Wait()
			exact, err := window.Open(f.State())
			must(t, err)
			got, want := f.Stats(), exact.Stats()
			if math.Abs(got.Keys-want.Keys) > 0.02*want.Keys+2*(want.High-want.Low) {
				t.Fatalf("minute %d: %.0f keys, want %.0f (%.0f to %.0f)", i, got.Keys, want.Keys, want.Low, want.High)
			}
		}
		must(t, f.Close())
	})
}

// Keys are counted and removed as the kind does.
func TestCounting(t *testing.T) {
	f := open(t, filepath.Join(t.TempDir(), "filter.umb"), counting.Kind, small, live.Options{})
	a := f.Hasher().HashString("a")
	for range 3 {
		f.Add(a)
	}
	if n, known := f.Count(a); n != 3 || !known {
		t.Errorf("%d, %v, want 3", n, known)
	}
	if !f.Remove(a) || f.Remove(f.Hasher().HashString("b")) {
		t.Error("Remove")
	}
	if n, _ := f.Count(a); n != 2 {
		t.Errorf("%d, want 2", n)
	}
}

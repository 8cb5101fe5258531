package httpcache

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	lockable "github.com/umbel-filters/umbel/cmd/internal/durable/disk"
	"github.com/umbel-filters/umbel/internal/await"
)

// stored files of a directory.
func storedFiles(t *testing.T, directory string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(directory, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// What is on disk is there again after a restart, with the fields of the last validation.
func TestRestart(t *testing.T) {
	d := t.TempDir()
	o := &origin{handle: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=100")
		w.Header().Set("Etag", `"v"`)
		w.Header().Set("X-Validated", r.Header.Get("If-None-Match"))
		if r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = w.Write([]byte(strings.Repeat(r.URL.Path, 50_000)))
	}}
	onDisk := func(o *Options) { o.Directory = d }
	first, err := New(Options{Origin: &exampleOrigin, Upstream: o, Size: 8 << 20, Directory: d})
	if err != nil {
		t.Fatal(err)
	}
	get(first, "/a")
	get(first, "/b")
	get(first, "/a", "Cache-Control: no-cache")
	if _, err := New(Options{Directory: d}); !errors.Is(err, lockable.ErrLocked) {
		t.Errorf("a second cache in the directory: %v, want %v", err, lockable.ErrLocked)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	// What a killed process leaves, and what a power cut makes of a file.
	names := storedFiles(t, d)
	if len(names) != 2 {
		t.Fatalf("%d files, want 2: %q", len(names), names)
	}
	for _, name := range []string{"00/0" + partial, "00/1" + complete} {
		if err := os.WriteFile(filepath.Join(d, name), []byte("incomplete"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := newTestCache(t, o, onDisk)
	await.True(t, "the files are loaded", func() bool { return c.Keys() == 2 && len(storedFiles(t, d)) == 2 })
	for path, validated := range map[string]string{"/a": `"v"`, "/b": ""} {
		if r := get(c, path); !isHit(r) || text(r) != strings.Repeat(path, 50_000) || r.Header.Get("X-Validated") != validated {
			t.Errorf("%s after a restart: %v", path, r.Header)
		}
	}
}

// A body that a power cut has damaged is noticed before it is sent.
func TestDamagedBody(t *testing.T) {
	d := t.TempDir()
	o := answering(strings.Repeat("x", 1000), "Cache-Control: max-age=100")
	first, err := New(Options{Origin: &exampleOrigin, Upstream: o, Directory: d})
	if err != nil {
		t.Fatal(err)
	}
	get(first, "/a")
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(storedFiles(t, d)[0], os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteAt(make([]byte, 10), 500); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	c := newTestCache(t, o, func(o *Options) { o.Directory, o.Log = d, slog.New(slog.NewTextHandler(&log, nil)) })
	await.True(t, "the file is loaded", func() bool { return c.Keys() == 1 })
	if r := get(c, "/a"); text(r) != strings.Repeat("x", 1000) || !strings.Contains(r.Header.Get("Cache-Status"), "fwd=uri-miss") {
		t.Errorf("the damaged body is sent, or the next one is no miss: %v", r.Header)
	}
	if n := strings.Count(log.String(), "damaged, and is removed"); n != 1 {
		t.Errorf("%d warnings: %s", n, log.String())
	}
}

// A file that is missing is fetched again.
func TestMissingFile(t *testing.T) {
	for _, size := range []int{100, smallFile + 1} {
		d := t.TempDir()
		o := answering(strings.Repeat("x", size), "Cache-Control: max-age=100")
		c := newTestCache(t, o, func(o *Options) { o.Directory = d })
		get(c, "/a")
		for _, name := range storedFiles(t, d) {
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
		if r := get(c, "/a"); len(text(r)) != size || o.count() != 2 {
			t.Errorf("%d requests; %v", o.count(), r.Header)
		}
		if r := get(c, "/a"); !isHit(r) || len(text(r)) != size {
			t.Errorf("it is not stored again: %v", r.Header)
		}
	}
}

// fullDisk is a store whose disk has room for some bytes.
type fullDisk struct {
	*files
	room int
}

func (f *fullDisk) keep(n int64) (keeper, error) {
	k, err := f.files.keep(n)
	return &fullKeeper{k, f.room}, err
}

type fullKeeper struct {
	keeper
	room int
}

func (k *fullKeeper) Write(p []byte) (int, error) {
	if len(p) > k.room {
		return 0, syscall.ENOSPC
	}
	k.room -= len(p)
	return k.keeper.Write(p)
}

// If the disk is full, answers are complete and are not stored. One warning a minute is logged.
func TestFullDisk(t *testing.T) {
	for _, room := range []int{0, 1500} {
		d := t.TempDir()
		o := &origin{handle: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Cache-Control", "max-age=100")
			for range 1000 {
				_, _ = w.Write([]byte(strings.Repeat("x", 1000)))
			}
		}}
		log := new(messages)
		c := newTestCache(t, o, func(o *Options) { o.Directory, o.Log = d, slog.New(slog.NewTextHandler(log, nil)) })
		c.bodies = &fullDisk{c.files, room}
		for range 2 {
			if r := get(c, "/a"); len(text(r)) != 1_000_000 {
				t.Errorf("an incomplete answer: %v", r.Header)
			}
		}
		await.True(t, "no file is left", func() bool { return len(storedFiles(t, d)) == 0 })
		if c.Keys() != 0 {
			t.Error("the response is stored")
		}
		await.True(t, "both failures are known", func() bool { return c.Stats().Incomplete.Load() == 2 })
		c.tasks.Wait()
		if n := log.n.Load(); n != 1 {
			t.Errorf("%d warnings, want 1", n)
		}
		if n := c.Stats().Unwritten.Load(); n != 2 {
			t.Errorf("%d failed writes are counted, want 2", n)
		}
	}
}

// messages counts messages of a log.
type messages struct{ n atomic.Int32 }

func (m *messages) Write(p []byte) (int, error) {
	m.n.Add(1)
	return len(p), nil
}

// Files and memory of evicted and replaced responses are freed, and the observer learns of each key.
func TestEviction(t *testing.T) {
	for _, directory := range []bool{false, true} {
		t.Run("disk "+strconv.FormatBool(directory), func(t *testing.T) {
			d := t.TempDir()
			seen := &observed{held: map[string]time.Time{}}
			o := answering(strings.Repeat("x", 50_000), "Cache-Control: max-age=100")
			c := newTestCache(t, o, func(o *Options) {
				o.Observer, o.Size, o.Largest = seen, 1<<20, 100_000
				if directory {
					o.Directory = d
				}
			})
			for i := range 100 {
				get(c, "/"+strconv.Itoa(i))
			}
			c.index.cache.CleanUp()
			await.True(t, "the store is within its limit", func() bool {
				return c.Bytes() <= 1<<20 && (!directory || len(storedFiles(t, d)) == c.Keys())
			})
			known := func() bool { return seen.count() == c.Keys() } // not while a key is being evicted
			await.True(t, "the observer knows the keys of the cache", known)
			if n := seen.count(); n < 10 {
				t.Errorf("the observer knows %d keys", n)
			}
			for key := range c.index.cache.Keys() {
				get(c, strings.TrimPrefix(key, "http://origin.example"), "Cache-Control: no-cache") // replaces the body
			}
			await.True(t, "replaced bodies are removed", func() bool { return !directory || len(storedFiles(t, d)) == c.Keys() })
			await.True(t, "the observer knows the keys of the cache", known)
			if len(seen.wrong) > 0 {
				t.Errorf("other changes than before: %q", seen.wrong)
			}
		})
	}
}

// The reason why a response is never stored is in Cache-Status.
func TestTooLarge(t *testing.T) {
	c := newTestCache(t, answering(strings.Repeat("x", 1001), "Cache-Control: max-age=100", "Content-Length: 1001"), func(o *Options) { o.Largest = 1000 })
	for range 2 {
		if status := get(c, "/").Header.Get("Cache-Status"); !strings.HasSuffix(status, "fwd=uri-miss; fwd-status=200; detail=too-large") {
			t.Errorf("Cache-Status: %s", status)
		}
	}
}

// observed has the keys that a cache has reported.
type observed struct {
	mu    sync.Mutex
	held  map[string]time.Time
	wrong []string // keys that it had and that were reported as new, or the other way round
}

func (o *observed) Changed(key string, before, after []Response) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(before) == 0 != o.held[key].IsZero() {
		o.wrong = append(o.wrong, key)
	}
	delete(o.held, key)
	for _, r := range after {
		o.held[key] = r.Until
	}
}

func (o *observed) count() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.held)
}

// The observer learns when a response becomes stale, also after a validation.
func TestObserver(t *testing.T) {
	seen := &observed{held: map[string]time.Time{}}
	o := answering("body", "Cache-Control: max-age=100", "Age: 40")
	c := newTestCache(t, o, func(o *Options) { o.Observer = seen })
	get(c, "/a?b")
	left := time.Until(seen.held["http://origin.example/a?b"])
	if left > time.Minute || left < 50*time.Second {
		t.Errorf("it is fresh for another %v, want 60 s", left)
	}
}

// The observer learns which request fields select each variant, also of those that an earlier process stored.
func TestObserverVariants(t *testing.T) {
	d, o := t.TempDir(), answering("body", "Cache-Control: max-age=100", "Vary: Accept-Language, X-Absent")
	seen := &variants{}
	open := func(o *Options) { o.Observer, o.Directory = seen, d }
	c := newTestCache(t, o, open)
	for _, language := range []string{"de-CH, de", "en"} {
		get(c, "/a", "Accept-Language: "+language)
	}
	if got := seen.text(); got != "[de-CH, de] [en]" {
		t.Errorf("got %s", got)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	seen = &variants{}
	c = newTestCache(t, o, open)
	await.True(t, "both are found", func() bool { return seen.text() == "[de-CH, de] [en]" })
	c.index.remove("http://origin.example/a")
	if got := seen.text(); got != "" {
		t.Errorf("got %s after the removal", got)
	}
}

// variants are those of one key that a cache has reported.
type variants struct {
	mu   sync.Mutex
	list []Response
}

func (v *variants) Changed(_ string, _, after []Response) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.list = after
}

func (v *variants) text() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	var words []string
	for _, r := range v.list {
		words = append(words, fmt.Sprint(r.Selected["Accept-Language"]))
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

// The slowest reader of a body that is not kept bounds what waits in memory.
func TestSpoolWaits(t *testing.T) {
	s := newSpool(nil, 0)
	fast, _ := s.reader()
	slow, _ := s.reader()
	written := make(chan error, 1)
	go func() {
		_, err := s.Write(make([]byte, 10*waiting))
		s.end(nil)
		written <- err
	}()
	buffer := make([]byte, waiting)
	if _, err := io.ReadFull(fast, buffer); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	if len(s.rest) > waiting {
		t.Errorf("%d bytes wait, want at most %d", len(s.rest), waiting)
	}
	s.mu.Unlock()
	var readers sync.WaitGroup
	for r, want := range map[*spoolReader]int{fast: 9 * waiting, slow: 10 * waiting} {
		readers.Go(func() {
			if n, err := io.Copy(io.Discard, r); int(n) != want || err != nil {
				t.Errorf("%d bytes, %v, want %d", n, err, want)
			}
		})
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
	readers.Wait()
	if _, ok := s.reader(); ok {
		t.Error("a reader can begin although the beginning is gone")
	}
}

// Without readers the download ends.
func TestSpoolUnread(t *testing.T) {
	s := newSpool(nil, 0)
	r, _ := s.reader()
	written := make(chan error, 1)
	go func() {
		_, err := s.Write(make([]byte, 10*waiting))
		written <- err
	}()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-written; err != errUnread {
		t.Errorf("got %v, want %v", err, errUnread)
	}
}

// A trailer comes back as it was, and no other bytes panic or allocate more than they are.
func FuzzTrailer(f *testing.F) {
	h := http.Header{"Cache-Control": {"max-age=100"}, "Vary": {"Foo"}}
	s := newStored("http://origin.example/a", http.Header{"Foo": {"1"}}, true, 200, h, newPolicy(200, h, parseDirectives(h["Cache-Control"]), time.Now(), time.Now()))
	trailer, err := appendTrailer([]byte("body"), s, 4, 7)
	if err != nil {
		f.Fatal(err)
	}
	if again, _, _, err := readTrailer(strings.NewReader(string(trailer)), int64(len(trailer))); err != nil || !again.authorized || again.variant != s.variant {
		f.Fatalf("got %v, %v, want %v", again, err, s)
	}
	f.Add(string(trailer))
	f.Add(string(trailer[1:]))
	f.Add("body{}\x02\x00\x00\x00\x00\x00\x00\x00" + magic)
	f.Fuzz(func(t *testing.T, file string) {
		s, size, crc, err := readTrailer(strings.NewReader(file), int64(len(file)))
		if err != nil {
			return
		}
		again, err := appendTrailer([]byte(file[:size]), s, size, crc)
		if err != nil {
			t.Fatal(err)
		}
		t2, size2, crc2, err := readTrailer(strings.NewReader(string(again)), int64(len(again)))
		if err != nil || size2 != size || crc2 != crc || t2.key != s.key || t2.variant != s.variant || t2.authorized != s.authorized || t2.policy.lifetime != s.policy.lifetime {
			t.Errorf("got %v, %v", t2, err)
		}
	})
}

// What an unsafe request invalidates while the files of an earlier process are read does not come back from its file.
func TestInvalidationDuringLoad(t *testing.T) {
	o := answering("body", "Cache-Control: max-age=100")
	for _, method := range []string{http.MethodPost, http.MethodHead} {
		c := newTestCache(t, o, func(o *Options) { o.Directory = t.TempDir() })
		get(c, "/a")
		await.True(t, "the response is stored", func() bool { return c.Keys() == 1 })
		found, _ := c.index.find("http://origin.example/a", nil)
		file := found.body.(*fileBody).path
		if err := os.Link(file, file+".same"); err != nil {
			t.Fatal(err)
		}
		await.True(t, "the files are read", c.loaded.Load)
		c.loaded.Store(false)
		do(c, httptest.NewRequest(method, "/a", nil))
		s, err := loadFile(file + ".same")
		if err != nil {
			t.Fatal(err)
		}
		c.index.remove(s.key)
		c.restore(s)
		if hit := isHit(get(c, "/a")); hit != (method == http.MethodHead) {
			t.Errorf("after %s: hit %v", method, hit)
		}
	}
}

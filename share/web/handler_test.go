package web_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/share/web"
)

// reply sends a request and returns the reply with its whole body.
func reply(t testing.TB, method, url string, header ...string) (*http.Response, []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	b, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	return got, b
}

// putHead replaces the head.
func putHead(t testing.TB, s share.Store, head string) {
	t.Helper()
	if err := s.PutRecord(t.Context(), share.HeadName, []byte(head)); err != nil {
		t.Fatal(err)
	}
}

// putObject writes an object of n bytes.
func putObject(t testing.TB, s share.Store, n int) (name string, data []byte) {
	t.Helper()
	data = make([]byte, n)
	for i := range data {
		data[i] = byte(i * i >> 5)
	}
	u, err := s.NewObject(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	if _, err := u.Write(data); err != nil {
		t.Fatal(err)
	}
	name = share.RefOf(data).Hash.String()
	if err := u.Commit(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	return name, data
}

// A handler serves and watches the heads of fold classes, and no other records. It does not wait for a
// class that is not there.
func TestHandlerClasses(t *testing.T) {
	s := new(share.Memory)
	putHead(t, s, "the head\n")
	for _, name := range []string{"head-4", "publisher", "held"} {
		if err := s.PutRecord(t.Context(), name, []byte("record "+name)); err != nil {
			t.Fatal(err)
		}
	}
	h := web.NewHandler(s, web.HandlerOptions{})
	base := serve(t, h)
	if r, b := reply(t, "GET", base+"/head-4"); r.StatusCode != http.StatusOK || string(b) != "record head-4" {
		t.Errorf("%s: %q", r.Status, b)
	}
	for _, path := range []string{"/publisher", "/held", "/head-1", "/head-16", "/head-16?after=x&wait=25s", "/head-", "/head-4/"} {
		if r, _ := reply(t, "GET", base+path); r.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s", path, r.Status)
		}
	}
	tag := share.RefOf([]byte("record head-4")).Hash.String()
	changed := make(chan string)
	go func() {
		_, b := reply(t, "GET", base+"/head-4?wait=25s&after="+tag)
		changed <- string(b)
	}()
	putHead(t, s, "another head\n")
	if err := s.PutRecord(t.Context(), "head-4", []byte("another class")); err != nil {
		t.Fatal(err)
	}
	if got := <-changed; got != "another class" {
		t.Errorf("waited for %q", got)
	}
}

func TestHandlerReplies(t *testing.T) {
	s := new(share.Memory)
	putHead(t, s, "the head\n")
	name, data := putObject(t, s, 1000)
	plain := serve(t, web.NewHandler(onlyStore{s}, web.HandlerOptions{}))
	base := serve(t, web.NewHandler(s, web.HandlerOptions{}))
	tag := `"` + share.RefOf([]byte("the head\n")).Hash.String() + `"`
	for _, c := range []struct {
		method, url string
		header      []string
		status      int
		body        string
		caching     string
	}{
		{"GET", base + "/head", nil, 200, "the head\n", "public, max-age=1, stale-while-revalidate=0"},
		{"GET", base + "/head", []string{"If-None-Match", tag}, 304, "", "public, max-age=1, stale-while-revalidate=0"},
		{"GET", base + "/head", []string{"If-None-Match", "W/" + tag}, 304, "", "public, max-age=1, stale-while-revalidate=0"},
		{"GET", base + "/head", []string{"If-None-Match", `"other"`}, 200, "the head\n", "public, max-age=1, stale-while-revalidate=0"},
		{"HEAD", base + "/head", nil, 200, "", "public, max-age=1, stale-while-revalidate=0"},
		{"GET", base + "/objects/" + name, nil, 200, string(data), "public, max-age=31536000, immutable, no-transform"},
		{"HEAD", base + "/objects/" + name, nil, 200, "", "public, max-age=31536000, immutable, no-transform"},
		{"GET", base + "/objects/" + name, []string{"If-None-Match", `"` + name + `"`}, 304, "", "public, max-age=31536000, immutable, no-transform"},
		{"GET", base + "/objects/" + name, []string{"Range", "bytes=10-19"}, 206, string(data[10:20]), "public, max-age=31536000, immutable, no-transform"},
		{"GET", base + "/objects/" + name, []string{"Range", "bytes=990-"}, 206, string(data[990:]), "public, max-age=31536000, immutable, no-transform"},
		{"GET", base + "/objects/" + name, []string{"Range", "bytes=-10"}, 206, string(data[990:]), "public, max-age=31536000, immutable, no-transform"},
		{"GET", base + "/objects/" + name, []string{"Range", "bytes=1000-"}, 416, "*", ""},
		{"GET", plain + "/objects/" + name, []string{"Range", "bytes=10-19"}, 200, string(data), "public, max-age=31536000, immutable, no-transform"},
		{"GET", base + "/objects/" + strings.Repeat("0", 26), nil, 404, "*", "no-store"},
		{"GET", base + "/objects/..%2fhead", nil, 404, "*", "no-store"},
		{"GET", base + "/objects/", nil, 404, "*", "no-store"},
		{"GET", base + "/held", nil, 404, "*", "no-store"},
		{"GET", base + "/", nil, 404, "*", "no-store"},
		{"POST", base + "/head", nil, 405, "*", "no-store"},
		{"PUT", base + "/objects/" + name, nil, 405, "*", "no-store"},
	} {
		r, b := reply(t, c.method, c.url, c.header...)
		if r.StatusCode != c.status || string(b) != c.body && c.body != "*" || r.Header.Get("Cache-Control") != c.caching {
			t.Errorf("%s %s %v: %s with %d bytes and %q; want %d, %d bytes, %q", c.method, c.url, c.header, r.Status, len(b), r.Header.Get("Cache-Control"), c.status, len(c.body), c.caching)
		}
		if c.method == "HEAD" && r.ContentLength <= 0 {
			t.Errorf("HEAD %s: the length is %d", c.url, r.ContentLength)
		}
	}
	if r, _ := reply(t, "GET", base+"/objects/"+name); r.Header.Get("Content-Type") != "application/octet-stream" {
		t.Errorf("an object has the type %s", r.Header.Get("Content-Type"))
	}
}

// A source that fails is an error that says when to retry, and is not cached.
func TestHandlerFails(t *testing.T) {
	base := serve(t, web.NewHandler(brokenSource{}, web.HandlerOptions{}))
	for _, path := range []string{"/head", "/objects/" + strings.Repeat("0", 26)} {
		r, _ := reply(t, "GET", base+path)
		if r.StatusCode != 503 || r.Header.Get("Retry-After") == "" || r.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %s, %v", path, r.Status, r.Header)
		}
	}
}

// waitFor requests the head after another one and returns when it arrived.
func waitFor(t testing.TB, base, tag, wait string) (status int, body []byte, took time.Duration) {
	begin := time.Now()
	r, b := reply(t, "GET", fmt.Sprintf("%s/head?after=%s&wait=%s", base, tag, wait))
	return r.StatusCode, b, time.Since(begin)
}

func TestWait(t *testing.T) {
	s := new(share.Memory)
	putHead(t, s, "one")
	base := serve(t, web.NewHandler(s, web.HandlerOptions{MaxWait: 3 * time.Second, MaxWaiters: 100}))
	r, _ := reply(t, "GET", base+"/head")
	if seconds, err := strconv.Atoi(r.Header.Get("Umbel-Long-Poll")); err != nil || seconds != 3 {
		t.Fatalf("Umbel-Long-Poll: %q", r.Header.Get("Umbel-Long-Poll"))
	}
	tag := strings.Trim(r.Header.Get("Etag"), `"`)
	patient := serve(t, web.NewHandler(s, web.HandlerOptions{MaxWait: time.Minute, MaxWaiters: 100}))
	if status, b, took := waitFor(t, base, tag, "50ms"); status != 200 || string(b) != "one" || took < 50*time.Millisecond {
		t.Errorf("unchanged: %d %q after %v", status, b, took)
	}
	if status, b, took := waitFor(t, patient, "other", "1h"); status != 200 || string(b) != "one" || took > 30*time.Second {
		t.Errorf("another head: %d %q after %v", status, b, took)
	}
	if _, _, took := waitFor(t, base, tag, "1h"); took < 3*time.Second || took > time.Minute {
		t.Errorf("the wait of an hour takes %v, want 3 seconds", took)
	}
	for _, bad := range []string{"", "x", "-1s", "0"} {
		if _, _, took := waitFor(t, patient, tag, bad); took > 30*time.Second {
			t.Errorf("wait=%s takes %v", bad, took)
		}
	}
	// The tag may be in the header.
	begin := time.Now()
	if r, _ := reply(t, "GET", base+"/head?wait=50ms", "If-None-Match", r.Header.Get("Etag")); r.StatusCode != 304 || time.Since(begin) < 50*time.Millisecond {
		t.Errorf("%s after %v", r.Status, time.Since(begin))
	}
}

// Requests that wait get the new head at once; those beyond the limit are answered without a wait.
func TestWaiters(t *testing.T) {
	s := new(share.Memory)
	putHead(t, s, "one")
	h := web.NewHandler(s, web.HandlerOptions{MaxWaiters: 100})
	base := serve(t, h)
	tag := share.RefOf([]byte("one")).Hash.String()
	var waiting sync.WaitGroup
	for range 100 {
		waiting.Go(func() {
			// The request below may take the place of one of these.
			for b := []byte(nil); string(b) != "two" && t.Context().Err() == nil; {
				_, b, _ = waitFor(t, base, tag, "30s")
			}
		})
	}
	// When 100 requests wait, one more returns at once.
	for end := time.Now().Add(time.Minute); ; {
		if _, b, took := waitFor(t, base, tag, "1s"); string(b) == "one" && took < time.Second {
			break
		}
		if time.Now().After(end) {
			t.Fatal("more than 100 requests wait")
		}
	}
	changed := time.Now()
	putHead(t, s, "two")
	waiting.Wait()
	if took := time.Since(changed); took > 20*time.Second {
		t.Errorf("100 requests are answered %v after the change", took)
	}
}

// A server with a limit for replies is not waited for longer than that.
func TestWriteTimeout(t *testing.T) {
	s := new(share.Memory)
	putHead(t, s, "one")
	server := &http.Server{Handler: web.NewHandler(s, web.HandlerOptions{}), WriteTimeout: 8 * time.Second}
	base := listen(t, server)
	if status, b, took := waitFor(t, base, share.RefOf([]byte("one")).Hash.String(), "30s"); status != 200 || !bytes.Equal(b, []byte("one")) || took > 20*time.Second {
		t.Errorf("%d %q after %v", status, b, took)
	}
	if r, _ := reply(t, "GET", base+"/head"); r.Header.Get("Umbel-Long-Poll") != "6" {
		t.Errorf("Umbel-Long-Poll: %s", r.Header.Get("Umbel-Long-Poll"))
	}
}

// A server shuts down although requests wait.
func TestShutdown(t *testing.T) {
	s := new(share.Memory)
	putHead(t, s, "one")
	h := web.NewHandler(s, web.HandlerOptions{})
	arrived := make(chan bool)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived <- true
		h.ServeHTTP(w, r)
	})}
	server.RegisterOnShutdown(h.Close)
	base := listen(t, server)
	tag := share.RefOf([]byte("one")).Hash.String()
	var waiting sync.WaitGroup
	for range 10 {
		waiting.Go(func() {
			if status, b, _ := waitFor(t, base, tag, "40s"); status != 200 || string(b) != "one" {
				t.Errorf("%d %q", status, b)
			}
		})
	}
	for range 10 {
		<-arrived
	}
	begin := time.Now()
	if err := server.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	waiting.Wait()
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("the server shuts down after %v", took)
	}
}

package httpcache_test

import (
	"bufio"
	"cmp"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/webcache/httpcache"
	"pgregory.net/rapid"
)

// step is a part of a history: requests that clients send at the same time, and how the origin answers while they wait.
type step struct {
	requests []string // method, path and fields, in lines
	reply    reply
	restart  bool          // of a cache with a disk, before
	wait     time.Duration // before
}

// reply is how the origin answers. "@+5" in a line is the date in 5 seconds, "@@-5" the one 5 seconds before the history began.
type reply struct {
	status      int // 0: it can't be reached
	lines       []string
	ranges      bool     // a request for a range gets it, if the status is 200
	length      bool     // with Content-Length
	notModified []string // the lines of a 304 for requests with conditions; nil: it does not check them
	echo        bool     // the 304 has the tag of the request
}

// GoString is what rapid prints.
func (s step) GoString() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n  after %v", s.wait)
	if s.restart {
		b.WriteString(", restarted")
	}
	for _, q := range s.requests {
		fmt.Fprintf(&b, "\n    %s", strings.ReplaceAll(q, "\n", " | "))
	}
	fmt.Fprintf(&b, "\n    origin: %d %q", s.reply.status, s.reply.lines)
	for text, on := range map[string]bool{", ranges": s.reply.ranges, ", length": s.reply.length, ", tag of the request": s.reply.echo} {
		if on {
			b.WriteString(text)
		}
	}
	if s.reply.notModified != nil {
		fmt.Fprintf(&b, "\n    on conditions: 304 %q", s.reply.notModified)
	}
	return b.String()
}

// often returns values of which the first is drawn most often, and to which rapid shrinks.
func often(n int, first string, others ...string) *rapid.Generator[string] {
	return rapid.SampledFrom(append(slices.Repeat([]string{first}, n), others...))
}

var (
	methods = often(14, "GET", "HEAD", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "UNKNOWN")
	paths   = often(3, "/a", "/b")
	// Lines of requests. An empty line is no line.
	requestLines = []*rapid.Generator[string]{
		often(7, "", "Foo: 1", "Foo: 2", "Foo: 1, 2", "Foo: 1\nFoo: 2", "Foo: \"1, 2\"", "Foo: \"1,2\"", "Foo:", "Foo: 1\nConnection: foo"),
		often(9, "", "Bar: 1", "Bar: 2"),
		often(20, "", "X-Forwarded-Host: 1", "X-Forwarded-Host: 2"),
		often(9, "", "Accept-Language: de", "Accept-Language: DE", "Accept-Language: fr", "Accept-Language: de, fr"),
		often(9, "", "Accept-Encoding: gzip", "Accept-Encoding: br, gzip;q=0.5", "Accept-Encoding: gzip, br", "Accept-Encoding: gzip;q=0", "Accept-Encoding: gzip;\tq=0"),
		often(9, "", "Authorization: alice", "Authorization: bob"),
		often(9, "", "Cookie: a=1", "Cookie: a=1, 2", "Cookie: a=1,2"),
		often(9, "", "Range: bytes=1-2", "Range: bytes=1-2", "Range: bytes=99-", "Range: bytes=99-", "Range: bytes=0-1,3-4"),
		often(40, "", `If-Range: "a"`, `If-Range: "b"`, `If-Range: W/"a"`, "If-Range: @@-1000"),
		often(20, "", `If-None-Match: "a"`, `If-None-Match: "b"`, `If-None-Match: W/"a", "c"`, "If-None-Match: *", "If-Modified-Since: @@-1000", "If-Modified-Since: @@-500"),
		often(60, "", `If-Match: "a"`, "If-Unmodified-Since: @@-1000", "Expect: 100-continue", "Upgrade: x\nConnection: upgrade"),
		often(20, "", "Cache-Control: no-cache", "Pragma: no-cache", "Cache-Control: no-store", "Cache-Control: only-if-cached", "Cache-Control: max-age=0",
			"Cache-Control: max-age=7", "Cache-Control: min-fresh=20", "Cache-Control: max-stale", "Cache-Control: max-stale=15", "Cache-Control: stale-if-error=30", "Cache-Control: stale-if-error=30",
			"Cache-Control: max-stale=30, max-age=5", "Cache-Control: no-store, max-stale"),
	}
	statuses = rapid.SampledFrom(append(slices.Repeat([]int{200}, 30), 203, 204, 206, 226, 301, 302, 401, 404, 404, 406, 410, 412, 416, 428, 429, 500, 501, 503, 504, 599, 0, 0, 0))
	vary     = often(9, "", "Vary: Foo", "Vary: Foo", "Vary: foo, Bar", "Vary: Foo\nVary: Bar", "Vary: Bar", "Vary: Accept-Language", "Vary: Accept-Encoding",
		"Vary: *", "Vary: Foo, *", "Vary: Authorization", "Vary: Cookie", "Vary: Range", "Vary: X-Forwarded-Host", "Vary: (Foo)")
	control = often(16, "max-age=60", "max-age=5", "max-age=5", "max-age=0", "s-maxage=20", "public", "private", "no-store", "no-cache", "must-revalidate", "must-revalidate",
		"proxy-revalidate", "must-understand", "stale-while-revalidate=30", "stale-while-revalidate=30", "stale-if-error=50", `no-cache="x-extra"`, `private="x-extra"`,
		"MAX-AGE=30", `max-age="25"`, "max-age=x", "max-age=50, max-age=5", `foo="no-store, max-age=1"`, "immutable")
	tags    = often(2, "", `Etag: "a"`, `Etag: "a"`, `Etag: "b"`, `Etag: W/"a"`, `Etag: W/"b"`)
	changed = often(3, "", "Last-Modified: @@-1000", "Last-Modified: @@-500", "Last-Modified: x")
	others  = []*rapid.Generator[string]{
		often(30, "", "CDN-Cache-Control: max-age=30", "CDN-Cache-Control: private", "CDN-Cache-Control: max-age=5, must-revalidate", "CDN-Cache-Control: invalid="),
		often(6, "", "Expires: @+30", "Expires: @-30", "Expires: 0"),
		often(2, "", "Date: @+0", "Date: @+0", "Date: @-4", "Date: @+9", "Date: @-70"),
		often(9, "", "Age: 4", "Age: 70", "Age: x"),
		often(12, "", "Set-Cookie: a=1"),
		often(9, "", "X-Extra: 1", "X-Extra: 2"),
		often(20, "", "Location: /b", "Location: http://other.example/b", "Content-Location: /b"),
		often(40, "", "Content-Range: bytes 0-1/9"),
	}
)

// drawLines draws fields of a response.
func drawLines(t *rapid.T) []string {
	lines := []string{vary.Draw(t, "vary"), tags.Draw(t, "tag"), changed.Draw(t, "changed")}
	if directives := rapid.SliceOfN(control, 0, 3).Draw(t, "control"); len(directives) > 0 {
		separator := often(3, ", ", "\nCache-Control: ").Draw(t, "separator")
		lines = append(lines, "Cache-Control: "+strings.Join(directives, separator))
	}
	for _, g := range others {
		lines = append(lines, g.Draw(t, "line"))
	}
	return slices.DeleteFunc(lines, func(s string) bool { return s == "" })
}

func drawStep(t *rapid.T) step {
	s := step{reply: reply{
		status: statuses.Draw(t, "status"), lines: drawLines(t), ranges: rapid.Bool().Draw(t, "ranges"), length: rapid.Bool().Draw(t, "length"),
	}}
	if rapid.IntRange(0, 2).Draw(t, "checks") > 0 {
		s.reply.notModified = append([]string{}, drawLines(t)...)
		s.reply.echo = rapid.IntRange(0, 3).Draw(t, "echo") > 0
	}
	for range rapid.SampledFrom([]int{1, 1, 1, 1, 1, 2, 3}).Draw(t, "clients") {
		lines := []string{methods.Draw(t, "method") + " " + paths.Draw(t, "path")}
		for _, g := range requestLines {
			if line := g.Draw(t, "line"); line != "" {
				lines = append(lines, line)
			}
		}
		s.requests = append(s.requests, strings.Join(lines, "\n"))
	}
	s.wait = rapid.SampledFrom([]time.Duration{0, 0, 0, 1500 * time.Millisecond, 6 * time.Second, 25 * time.Second, 70 * time.Second}).Draw(t, "wait")
	s.restart = rapid.IntRange(0, 9).Draw(t, "restart") == 9
	return s
}

// run is a history while it happens.
type run struct {
	began time.Time
	cache *httpcache.Cache

	mu    sync.Mutex
	model *model
	now   step
	sent  int // exchanges of all steps
	log   []string
	err   error

	steps, hits, fresh int // requests, those that were answered without the origin, and those for which the model has a fresh response
}

// RoundTrip is the origin.
func (r *run) RoundTrip(q *http.Request) (*http.Response, error) {
	r.mu.Lock()
	r.sent++
	id, s := r.sent, r.now
	x := exchange{request: q, requested: time.Now(), selected: r.model.selected(q)}
	r.mu.Unlock()
	select {
	case <-time.After(time.Duration(id)*time.Millisecond + time.Duration(id*id*7919%100_003)): // so that no two answers come at the same time
	case <-q.Context().Done():
		return nil, q.Context().Err()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	x.received = time.Now()
	if s.reply.status == 0 {
		r.model.receive(x)
		r.note("exchange %d for %s: unreachable", id, q.Header.Get("X-Client"))
		return nil, io.ErrUnexpectedEOF
	}
	text := s.reply.message(q, id)
	a, err := http.ReadResponse(bufio.NewReader(strings.NewReader(r.dated(text))), q)
	if err != nil {
		panic(fmt.Sprint(err, text))
	}
	body, _ := io.ReadAll(a.Body)
	a.Body = io.NopCloser(strings.NewReader(string(body)))
	x.status, x.header, x.body = a.StatusCode, a.Header.Clone(), string(body)
	r.model.receive(x)
	r.note("exchange %d for %s: %q\n      gets %q", id, q.Header.Get("X-Client"), q.Header, text)
	return a, nil
}

// message is the answer to a request, with the dates still to be filled in.
func (y reply) message(q *http.Request, id int) string {
	conditions := q.Header.Get("If-None-Match") + q.Header.Get("If-Modified-Since")
	status, lines, body := y.status, y.lines, fmt.Sprintf("%d:abcdefgh", id)
	if safe := q.Method == "GET" || q.Method == "HEAD"; safe && conditions != "" && y.notModified != nil {
		lines = append(slices.Clone(y.notModified), fmt.Sprint("X-Update: ", id))
		if tag := q.Header.Get("If-None-Match"); y.echo && tag != "" && tag != "*" {
			lines = slices.DeleteFunc(lines, func(s string) bool { return strings.HasPrefix(s, "Etag: ") })
			lines = append(lines, "Etag: "+strings.Split(tag, ", ")[0])
		}
		status, body = http.StatusNotModified, ""
	} else {
		lines = append(slices.Clone(lines), fmt.Sprint("X-Id: ", id))
	}
	if r := q.Header.Get("Range"); q.Method == "GET" && r != "" && status == 200 && y.ranges {
		switch r {
		case "bytes=99-":
			status = http.StatusRequestedRangeNotSatisfiable
			lines = append(lines, fmt.Sprintf("Content-Range: bytes */%d", len(body)))
		default:
			status = http.StatusPartialContent
			lines = append(lines, fmt.Sprintf("Content-Range: bytes 1-2/%d", len(body)))
			body = body[1:3]
		}
	}
	if y.length && status != http.StatusNoContent && status != http.StatusNotModified {
		lines = append(lines, fmt.Sprint("Content-Length: ", len(body)))
	}
	if status == http.StatusNoContent || q.Method == "HEAD" {
		body = ""
	}
	return fmt.Sprintf("HTTP/1.1 %d X\r\n%s\r\n\r\n%s", status, strings.ReplaceAll(strings.Join(lines, "\n"), "\n", "\r\n"), body)
}

// dated fills in the dates of a message.
func (r *run) dated(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		name, offset, ok := strings.Cut(line, ": @")
		if !ok {
			continue
		}
		from := time.Now()
		if rest, ok := strings.CutPrefix(offset, "@"); ok {
			from, offset = r.began, rest
		}
		n, err := strconv.Atoi(strings.TrimSuffix(offset, "\r"))
		if err != nil {
			panic(err)
		}
		lines[i] = name + ": " + from.Add(time.Duration(n)*time.Second).UTC().Format(http.TimeFormat) + "\r"
	}
	return strings.Join(lines, "\n")
}

func (r *run) note(format string, args ...any) {
	r.log = append(r.log, fmt.Sprintf("%8v ", time.Since(r.began).Round(time.Millisecond))+fmt.Sprintf(format, args...))
}

// client sends a request and compares the answer with the model.
func (r *run) client(text, name string) {
	first, lines, _ := strings.Cut(text, "\n")
	message := first + " HTTP/1.1\nHost: client.example\nX-Client: " + name
	if lines != "" {
		message += "\n" + lines
	}
	q, err := http.ReadRequest(bufio.NewReader(strings.NewReader(r.dated(strings.ReplaceAll(message, "\n", "\r\n") + "\r\n\r\n"))))
	if err != nil {
		panic(err)
	}
	r.mu.Lock()
	r.model.requests[name] = q
	before, fresh := r.sent, slices.ContainsFunc(r.model.versions, func(v *version) bool { return r.model.reuse(v, q, time.Now()) == nil })
	r.mu.Unlock()
	w := httptest.NewRecorder()
	r.cache.ServeHTTP(w, q.Clone(q.Context()))
	r.mu.Lock()
	defer r.mu.Unlock()
	a := w.Result()
	r.note("client %s: %s: %d, %q", name, strings.ReplaceAll(text, "\n", " | "), a.StatusCode, a.Header)
	err = r.model.permits(q, a, time.Now())
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("client %s: %w", name, err)
		r.note("NOT PERMITTED: %v", err)
	}
	r.steps++
	if fresh {
		r.fresh++
		if strings.Contains(a.Header.Get("Cache-Status"), "umbel; hit") || r.sent == before {
			r.hits++
		}
	}
}

// history runs a history in a time of its own.
func history(t *testing.T, steps []step, directory string) (r *run) {
	synctest.Test(t, func(t *testing.T) {
		const disconnected = 10 * time.Second
		r = &run{began: time.Now(), model: &model{disconnected: disconnected, requests: map[string]*http.Request{}}}
		open := func() {
			c, err := httpcache.New(httpcache.Options{
				Origin: &url.URL{Scheme: "http", Host: "origin.example"}, Upstream: r, Size: 1 << 20, Directory: directory, Disconnected: disconnected,
			})
			if err != nil {
				t.Fatal(err)
			}
			r.cache = c
			synctest.Wait()
		}
		open()
		for i, s := range steps {
			time.Sleep(s.wait)
			if s.restart && directory != "" {
				_ = r.cache.Close()
				open()
			}
			r.mu.Lock()
			r.model.begin()
			r.now = s
			r.mu.Unlock()
			var clients sync.WaitGroup
			for j, q := range s.requests {
				clients.Go(func() { r.client(q, fmt.Sprintf("%d.%d", i+1, j+1)) })
				time.Sleep(10 * time.Microsecond) // always in this order; the origin takes longer
			}
			clients.Wait()
			time.Sleep(time.Second) // what goes on without a client
			synctest.Wait()
			if r.err != nil {
				break
			}
		}
		_ = r.cache.Close()
	})
	return r
}

// Every answer is one that the model permits, over random histories; and most requests for which it has a response that
// may be reused are answered with one, so that a cache that stores nothing does not pass. UMBEL_HISTORIES is the number of
// histories in memory, 1000 if it is not set; on disk it is a tenth.
func TestModel(t *testing.T) {
	number := 1000
	if n, err := strconv.Atoi(os.Getenv("UMBEL_HISTORIES")); err == nil {
		number = n
	}
	for _, store := range []string{"memory", "disk"} {
		t.Run(store, func(t *testing.T) {
			checks := number
			directory := ""
			if store == "disk" {
				directory, checks = t.TempDir(), max(1, number/10)
			}
			if testing.Short() {
				checks = max(checks, 500) // of which rapid then makes a fifth: with less, the shares below say nothing
			}
			_ = flag.Set("rapid.nofailfile", "true")
			old := flag.Lookup("rapid.checks").Value.String()
			_ = flag.Set("rapid.checks", strconv.Itoa(checks))
			defer flag.Set("rapid.checks", old)
			var requests, fresh, hits int
			var first string // what has happened in the first history that failed, should it not fail again
			defer func() {
				if t.Failed() {
					t.Logf("the first history that failed: %s", first)
				}
			}()
			rapid.Check(t, func(rt *rapid.T) {
				steps := rapid.SliceOfN(rapid.Custom(drawStep), 1, 12).Draw(rt, "steps")
				if directory != "" {
					empty(t, directory)
				}
				r := history(t, steps, directory)
				requests, fresh, hits = requests+r.steps, fresh+r.fresh, hits+r.hits
				if r.err != nil {
					log := fmt.Sprintf("%v\n%s", r.err, strings.Join(r.log, "\n"))
					first = cmp.Or(first, log)
					rt.Log(log)
					rt.Fatal("an answer is not permitted") // always the same text: otherwise rapid does not shrink
				}
			})
			t.Logf("%d requests; for %d the model has a response that may be reused, and %d were answered with one", requests, fresh, hits)
			if hits*2 < fresh || fresh*20 < requests {
				t.Errorf("want at least a half of at least 5 %%: otherwise the law says nothing about what is reused")
			}
		})
	}
}

// empty removes the stored responses.
func empty(t *testing.T, directory string) {
	for i := range 256 {
		dir := fmt.Sprintf("%s/%02x", directory, i)
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if err := os.Remove(dir + "/" + e.Name()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

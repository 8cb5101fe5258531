package siblings_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel/siblings"
)

// A body that breaks off after a part was passed on continues from the origin, if that has the same bytes by a strong tag.
func TestContinued(t *testing.T) {
	const size = 100_000
	for _, c := range []struct {
		name      string
		tag       string
		change    func(h http.Header, status *int, body *string) // of the answer to a range
		continues bool
	}{
		{"a strong tag", `"a"`, nil, true},
		{"a weak tag", `W/"a"`, nil, false},
		{"no tag", "", nil, false},
		{"no ranges", `"a"`, func(h http.Header, status *int, body *string) { *status = 200; h.Del("Content-Range") }, false},
		{"another tag", `"a"`, func(h http.Header, _ *int, _ *string) { h.Set("Etag", `"b"`) }, false},
		{"another coding", `"a"`, func(h http.Header, _ *int, _ *string) { h.Set("Content-Encoding", "gzip") }, false},
		{"another length", `"a"`, func(h http.Header, _ *int, _ *string) { h.Set("Content-Range", "bytes 50000-100000/100001") }, false},
		{"another range", `"a"`, func(h http.Header, _ *int, _ *string) { h.Set("Content-Range", "bytes 49999-99999/100000") }, false},
		{"a part of the range", `"a"`, func(h http.Header, _ *int, _ *string) { h.Set("Content-Range", "bytes 50000-60000/100000") }, false},
		{"several ranges", `"a"`, func(h http.Header, _ *int, _ *string) {
			h.Del("Content-Range")
			h.Set("Content-Type", "multipart/byteranges; boundary=x")
		}, false},
		{"an error", `"a"`, func(_ http.Header, status *int, _ *string) { *status = 503 }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, n, _ := faulty(t, size, &fault{first: 50_000, end: io.ErrUnexpectedEOF})
				ranges := 0
				w.origin = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
					h, status, body := rw.Header(), 200, wholeBody(r.URL.Path, size)
					h.Set("Cache-Control", "max-age=100000")
					if c.tag != "" {
						h.Set("Etag", c.tag)
					}
					if from := r.Header.Get("Range"); from != "" {
						ranges++
						if from != "bytes=50000-" || r.Header.Get("If-Range") != c.tag {
							t.Errorf("Range %q, If-Range %q", from, r.Header.Get("If-Range"))
						}
						status, body = 206, body[50_000:]
						h.Set("Content-Range", fmt.Sprintf("bytes 50000-%d/%d", size-1, size))
						if c.change != nil {
							c.change(h, &status, &body)
						}
					}
					h.Set("Content-Length", fmt.Sprint(len(body)))
					rw.WriteHeader(status)
					io.WriteString(rw, body)
				})
				n[0].get(t, "/x")
				settle()
				body, err := n[1].fetch(t, "/x")
				switch {
				case c.continues && (err != nil || body != wholeBody("/x", size)):
					t.Errorf("%d bytes, %v", len(body), err)
				case !c.continues && (!errors.Is(err, siblings.ErrSibling) || len(body) != 50_000 || !strings.HasPrefix(wholeBody("/x", size), body)):
					t.Errorf("%d bytes, %v, want a part and ErrSibling", len(body), err)
				}
				if strong := strings.HasPrefix(c.tag, `"`); strong != (ranges == 1) {
					t.Errorf("%d requests for a range", ranges)
				}
				p := n[1].Status().Peers[0]
				if p.Failed != 1 || p.Hits != 0 || !strings.HasPrefix(p.Problem, "suspended: ") {
					t.Errorf("%+v, want a failure", p)
				}
				time.Sleep(2 * time.Second)
				synctest.Wait()
				if held := n[1].Held().Has("http://www.example.org/x"); held != c.continues {
					t.Errorf("published: %v, want %v", held, c.continues)
				}
			})
		})
	}
}

// However a body arrives, a client gets the whole or an error, and no error if nothing was passed on or the origin has the rest.
func TestBodiesLaw(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rnd := rand.New(rand.NewPCG(1, 2))
		sizes, tags := map[string]int{}, map[string]string{}
		w, n, _ := faulty(t, 2, nil)
		w.origin = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Cache-Control", "max-age=100000")
			if tag := tags[r.URL.Path]; tag != "" {
				rw.Header().Set("Etag", tag)
			}
			http.ServeContent(rw, r, "", time.Time{}, strings.NewReader(wholeBody(r.URL.Path, sizes[r.URL.Path])))
		})
		whole, parts := 0, 0
		for i := range 150 {
			path := fmt.Sprintf("/%d", i)
			sizes[path] = len(path) + rnd.IntN([]int{100, 5000, 40_000, 200_000}[rnd.IntN(4)])
			tags[path] = []string{"", `"a"`, `W/"a"`}[rnd.IntN(3)]
			n[0].get(t, path)
			time.Sleep(65 * time.Second) // no suspension lasts
			how := fault{first: rnd.IntN(sizes[path] + 1), end: []error{io.EOF, io.ErrUnexpectedEOF, nil}[rnd.IntN(3)]}
			if rnd.IntN(2) == 0 {
				how.size, how.pause = 1+rnd.IntN(20_000), time.Duration(rnd.IntN(300))*time.Millisecond
			}
			if how.end == io.EOF && how.size == 0 {
				how.end = io.ErrUnexpectedEOF // the end of a part is not that of the whole
			}
			w.mu.Lock()
			w.fault = &how
			w.mu.Unlock()
			body, err := n[1].fetch(t, path)
			w.mu.Lock()
			w.fault = nil
			w.mu.Unlock()
			want := wholeBody(path, sizes[path])
			switch {
			case err == nil && body != want:
				t.Fatalf("%s, %+v: %d of %d bytes without an error", path, how, len(body), len(want))
			case err == nil:
				whole++
			case !strings.HasPrefix(want, body) || body == "" || tags[path] == `"a"` && len(body) < len(want): // nothing is missing but the end
				t.Fatalf("%s, %+v, tag %s: %d of %d bytes, %v", path, how, tags[path], len(body), len(want), err)
			default:
				parts++
			}
		}
		if whole < 50 || parts < 5 {
			t.Errorf("%d whole bodies and %d parts; the test needs more", whole, parts)
		}
		t.Logf("%d whole bodies, %d parts", whole, parts)
	})
}

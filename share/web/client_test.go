package web_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/share/web"
)

const page = "<!DOCTYPE html><title>Something went wrong</title>"

// name is that of an object.
var name = strings.Repeat("0", 26)

func zipped(b []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	z.Write(b)
	z.Close()
	return out.Bytes()
}

// Each reply for the head is a record or an error.
func TestRecordReplies(t *testing.T) {
	long := bytes.Repeat([]byte("x"), share.MaxRecord+1)
	for _, c := range []struct {
		name  string
		reply func(w http.ResponseWriter)
		want  string
		err   error // errAny for any error
	}{
		{"plain", func(w http.ResponseWriter) { io.WriteString(w, "head") }, "head", nil},
		{"empty", func(w http.ResponseWriter) {}, "", nil},
		{"the longest", func(w http.ResponseWriter) { w.Write(long[1:]) }, string(long[1:]), nil},
		{"too long", func(w http.ResponseWriter) { w.Write(long) }, "", share.ErrCorrupt},
		{"gzip", func(w http.ResponseWriter) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(zipped([]byte("head")))
		}, "head", nil},
		{"bomb", func(w http.ResponseWriter) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(zipped(make([]byte, 1<<26)))
		}, "", share.ErrCorrupt},
		{"not gzip", func(w http.ResponseWriter) {
			w.Header().Set("Content-Encoding", "gzip")
			io.WriteString(w, page)
		}, "", gzip.ErrHeader},
		{"unknown coding", func(w http.ResponseWriter) {
			w.Header().Set("Content-Encoding", "br")
			io.WriteString(w, page)
		}, "", share.ErrCorrupt},
		{"short", func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "100")
			io.WriteString(w, "head")
		}, "", io.ErrUnexpectedEOF},
		{"404", func(w http.ResponseWriter) { w.WriteHeader(404) }, "", share.ErrNotFound},
		{"410", func(w http.ResponseWriter) { w.WriteHeader(410) }, "", share.ErrNotFound},
		{"403", func(w http.ResponseWriter) { w.WriteHeader(403) }, "", errAny},
		{"500", func(w http.ResponseWriter) { w.WriteHeader(500) }, "", errAny},
		{"304 without a condition", func(w http.ResponseWriter) { w.WriteHeader(304) }, "", share.ErrCorrupt},
		{"206", func(w http.ResponseWriter) { w.WriteHeader(206) }, "", share.ErrCorrupt},
		{"204", func(w http.ResponseWriter) { w.WriteHeader(204) }, "", share.ErrCorrupt},
		{"aborted", func(w http.ResponseWriter) { panic(http.ErrAbortHandler) }, "", io.EOF},
		{"redirect to itself", func(w http.ResponseWriter) {
			w.Header().Set("Location", "/head")
			w.WriteHeader(302)
		}, "", errAny},
	} {
		t.Run(c.name, func(t *testing.T) {
			var requests atomic.Int64
			base := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				requests.Add(1)
				c.reply(w)
			}))
			b, err := client(t, base).Record(t.Context(), share.HeadName)
			if string(b) != c.want || !errors.Is(err, c.err) && (c.err != errAny || err == nil) {
				t.Errorf("%.40q, %v; want %.40q, %v", b, err, c.want, c.err)
			}
			if requests.Load() > 6 {
				t.Errorf("%d requests", requests.Load())
			}
		})
	}
}

var errAny = errors.New("any")

// Objects from an offset on are right whatever the server makes of ranges.
func TestObjectReplies(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789"), 1000)
	const offset = 5003
	partial := func(w http.ResponseWriter, first int, text string) {
		w.Header().Set("Content-Range", text)
		w.WriteHeader(206)
		w.Write(data[first:])
	}
	for _, c := range []struct {
		name  string
		reply func(w http.ResponseWriter, r *http.Request)
		want  []byte
		err   error
	}{
		{"range", func(w http.ResponseWriter, _ *http.Request) { partial(w, offset, "bytes 5003-9999/10000") }, data[offset:], nil},
		{"range of unknown size", func(w http.ResponseWriter, _ *http.Request) { partial(w, offset, "bytes 5003-9999/*") }, data[offset:], nil},
		{"range ignored", func(w http.ResponseWriter, _ *http.Request) { w.Write(data) }, data[offset:], nil},
		{"object shorter than the offset", func(w http.ResponseWriter, _ *http.Request) { w.Write(data[:100]) }, nil, nil},
		{"no such range", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(416) }, nil, nil},
		{"another range", func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Range") != "" {
				partial(w, 5000, "bytes 5000-9999/10000")
				return
			}
			w.Write(data)
		}, data[offset:], nil},
		{"always a range", func(w http.ResponseWriter, _ *http.Request) { partial(w, 5000, "bytes 5000-9999/10000") }, nil, share.ErrCorrupt},
		{"range of gzip", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			if r.Header.Get("Range") != "" {
				partial(w, offset, "bytes 5003-9999/10000")
				return
			}
			w.Write(zipped(data))
		}, data[offset:], nil},
		{"404", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) }, nil, share.ErrNotFound},
		{"short", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "10000")
			w.Write(data[:6000])
		}, data[offset:6000], io.ErrUnexpectedEOF},
	} {
		t.Run(c.name, func(t *testing.T) {
			base := serve(t, http.HandlerFunc(c.reply))
			body, err := client(t, base).Object(t.Context(), name, offset)
			var got []byte
			if err == nil {
				got, err = io.ReadAll(body)
				body.Close()
			}
			if !bytes.Equal(got, c.want) || !errors.Is(err, c.err) {
				t.Errorf("%d bytes, %v; want %d, %v", len(got), err, len(c.want), c.err)
			}
		})
	}
}

// transport is an http.RoundTripper that replies without a network.
type transport func(r *http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func replyWith(status int, body io.Reader, header ...string) *http.Response {
	r := &http.Response{StatusCode: status, Status: fmt.Sprint(status), Header: make(http.Header), Body: io.NopCloser(body), ContentLength: -1}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return r
}

func clientOf(t *testing.T, f transport) *web.Client {
	c, err := web.NewClient("http://example.org/", web.ClientOptions{HTTP: &http.Client{Transport: f}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The next request waits as long as the server says, for at most ten minutes.
func TestRetryAfter(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"7": 7 * time.Second, "3600": 10 * time.Minute, "99999999999999": 0, "-1": 0, "soon": 0, "": 0,
		"Mon, 23 Nov 2026 10:00:30 GMT": 30 * time.Second,
		"Mon, 23 Nov 2026 09:00:00 GMT": 0,
	} {
		synctest.Test(t, func(t *testing.T) {
			requests := 0
			c := clientOf(t, func(*http.Request) (*http.Response, error) {
				if requests++; requests == 1 {
					return replyWith(503, http.NoBody, "Retry-After", value, "Date", "Mon, 23 Nov 2026 10:00:00 GMT"), nil
				}
				return replyWith(200, strings.NewReader("head")), nil
			})
			if _, err := c.Record(t.Context(), share.HeadName); err == nil {
				t.Fatal("no error")
			}
			begin := time.Now()
			if _, err := c.Record(t.Context(), share.HeadName); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(begin); took != want {
				t.Errorf("Retry-After %q: the next request after %v, want %v", value, took, want)
			}
		})
	}
}

// slowBody sends a byte per interval.
type slowBody struct {
	ctx      context.Context
	interval time.Duration
}

func (b slowBody) Read(p []byte) (int, error) {
	select {
	case <-time.After(b.interval):
		return copy(p, "x"), nil
	case <-b.ctx.Done():
		return 0, b.ctx.Err()
	}
}

// A server that sends nothing, or nearly nothing, does not hold a request forever. One that is slow
// does no harm.
func TestSlow(t *testing.T) {
	for _, c := range []struct {
		name     string
		interval time.Duration
		n        int64 // bytes that arrive at least
		max      time.Duration
	}{
		{"nothing", time.Hour, 0, 30 * time.Second},
		{"a byte per second", time.Second, 29, 30 * time.Second},
		{"50 bytes per second", 20 * time.Millisecond, 5000, 120 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				source := clientOf(t, func(r *http.Request) (*http.Response, error) {
					return replyWith(200, slowBody{r.Context(), c.interval}), nil
				})
				begin := time.Now()
				body, err := source.Object(t.Context(), name, 0)
				if err != nil {
					t.Fatal(err)
				}
				n, err := io.CopyN(io.Discard, body, 5000)
				body.Close()
				if n < c.n || time.Since(begin) > c.max || (n < 5000) != (err != nil) {
					t.Errorf("%d bytes in %v, %v", n, time.Since(begin), err)
				}
			})
		})
	}
	t.Run("no reply", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			source := clientOf(t, func(r *http.Request) (*http.Response, error) {
				<-r.Context().Done()
				return nil, r.Context().Err()
			})
			begin := time.Now()
			if _, err := source.Record(t.Context(), share.HeadName); err == nil || time.Since(begin) != 30*time.Second {
				t.Errorf("%v after %v", err, time.Since(begin))
			}
		})
	})
}

// A server without long poll is polled, and its requests have no query. A server with long poll is
// polled too if it replies at once.
func TestPolls(t *testing.T) {
	for _, longPoll := range []string{"", "50"} {
		synctest.Test(t, func(t *testing.T) {
			requests, waiting := 0, 0
			c := clientOf(t, func(r *http.Request) (*http.Response, error) {
				requests++
				if r.URL.Query().Get("wait") != "" {
					waiting++
				}
				return replyWith(200, strings.NewReader("head"), "Umbel-Long-Poll", longPoll), nil
			})
			last, err := c.Record(t.Context(), share.HeadName)
			for begin := time.Now(); err == nil && time.Since(begin) < 10*time.Minute; {
				_, err = c.WatchRecord(t.Context(), share.HeadName, last)
			}
			if err != nil {
				t.Fatal(err)
			}
			if requests < 110 || requests > 130 || longPoll == "" && waiting > 0 || longPoll != "" && waiting != requests-1 {
				t.Errorf("Umbel-Long-Poll %q: %d requests in 10 minutes, %d of them wait", longPoll, requests, waiting)
			}
		})
	}
}

// A client waits for as long as the server permits, and for at most 25 seconds.
func TestWaits(t *testing.T) {
	for header, want := range map[string]time.Duration{"3": 3 * time.Second, "50": 25 * time.Second, "99999999": 0, "x": 0} {
		synctest.Test(t, func(t *testing.T) {
			asked := time.Duration(0)
			c := clientOf(t, func(r *http.Request) (*http.Response, error) {
				if wait := r.URL.Query().Get("wait"); wait != "" {
					asked, _ = time.ParseDuration(wait)
					time.Sleep(asked)
				}
				return replyWith(200, strings.NewReader("head"), "Umbel-Long-Poll", header), nil
			})
			last, err := c.Record(t.Context(), share.HeadName)
			if err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			if _, err := c.WatchRecord(t.Context(), share.HeadName, last); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(begin); asked != want || want > 0 && took != want {
				t.Errorf("Umbel-Long-Poll %s: wait=%v, returns after %v; want %v", header, asked, took, want)
			}
		})
	}
}

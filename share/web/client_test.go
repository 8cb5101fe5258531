package web_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

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
	bomb := zipped(make([]byte, 1<<26)) // not while the client waits: with the race detector this takes long
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
			w.Write(bomb)
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

// Objects from an offset on are right even if the server ignores or changes ranges.
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

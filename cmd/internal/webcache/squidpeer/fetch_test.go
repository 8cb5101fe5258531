package squidpeer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/umbel-filters/umbel/filter/foreign/squid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// captured returns a digest that Squid made: 2,051 objects.
func captured(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile("../../../../filter/foreign/squid/testdata/s57-n2000-t0.digest")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestURL(t *testing.T) {
	for where, want := range map[string]string{
		"127.0.0.1:3128":              "http://127.0.0.1:3128" + Path,
		"http://peer:3128":            "http://peer:3128" + Path,
		"http://peer:3128/":           "http://peer:3128" + Path,
		"https://peer/d/store_digest": "https://peer/d/store_digest",
		"http://[::1]:3128/x?y":       "http://[::1]:3128/x?y",
	} {
		if got, err := URL(where); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", where, got, err, want)
		}
	}
	for _, where := range []string{"", "ftp://peer/", "http://", "http://a b/", "://x"} {
		if got, err := URL(where); err == nil {
			t.Errorf("%q: %s, want an error", where, got)
		}
	}
}

func fetchFrom(t *testing.T, f Fetcher, handler http.HandlerFunc) (Fetched, error) {
	t.Helper()
	s := httptest.NewServer(handler)
	defer s.Close()
	defer transport.CloseIdleConnections()
	return f.Fetch(t.Context(), s.URL+Path)
}

func TestFetch(t *testing.T) {
	b := captured(t)
	modified := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	got, err := fetchFrom(t, Fetcher{}, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != Path || r.Header.Get("Accept") != ContentType || r.Header.Get("Accept-Encoding") != "" {
			t.Errorf("request %s with %v", r.URL, r.Header)
		}
		w.Header().Set("Date", modified.Add(time.Minute).Format(http.TimeFormat)) // of a clock that is wrong
		w.Header().Set("Last-Modified", modified.Format(http.TimeFormat))
		w.Header().Set("Expires", modified.Add(time.Hour).Format(http.TimeFormat))
		w.Write(b)
	})
	if err != nil || !bytes.Equal(got.Bytes, b) || got.Digest.Count != 2051 || !got.Modified.Equal(modified) || got.Valid != 59*time.Minute {
		t.Errorf("%d bytes, %d objects, modified %v, valid for %v, %v", len(got.Bytes), got.Digest.Count, got.Modified, got.Valid, err)
	}
}

// raw returns a handler that sends bytes as they are.
func raw(answer string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if c, _, err := http.NewResponseController(w).Hijack(); err == nil {
			fmt.Fprint(c, answer)
			c.Close()
		}
	}
}

// TestFetchMends: a malformed field is mended and not ignored, or the answer is refused.
func TestFetchMends(t *testing.T) {
	b := captured(t)
	const head = "HTTP/1.1 200 OK\r\nContent-Type: application/cache-digest\r\nDate: Fri, 20 Nov 2026 10:00:00 GMT\r\n"
	got, err := fetchFrom(t, Fetcher{}, raw(fmt.Sprintf("%sExpires : Fri, 20 Nov 2026 10:01:00 GMT\r\nContent-Length: %d\r\n\r\n%s", head, len(b), b)))
	if err != nil || got.Valid != time.Minute {
		t.Errorf("valid for %v, %v, want a minute", got.Valid, err)
	}
	chunked := "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + string(b) // RFC 9112, section 6.1
	if _, err := fetchFrom(t, Fetcher{}, raw(chunked)); err == nil {
		t.Error("HTTP/1.0 with a transfer coding: the digest is taken")
	}
	for _, field := range []string{"Expires\t: x", "Ex pires: x", fmt.Sprintf("Content-Length : %d", len(b)), ": x"} {
		if _, err := fetchFrom(t, Fetcher{}, raw(head+field+"\r\n\r\n"+string(b))); err == nil {
			t.Errorf("%q: the digest is taken", field)
		}
	}
}

// TestFetchRefuses: what a peer may send instead of a digest is an error, and is not read beyond the limit.
func TestFetchRefuses(t *testing.T) {
	b := captured(t)
	for name, c := range map[string]struct {
		f       Fetcher
		handler http.HandlerFunc
		want    error
	}{
		"none":      {handler: http.NotFound, want: errNoDigest},
		"a failure": {handler: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }},
		"elsewhere": {handler: func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
		}},
		"another page": {handler: func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat("<html>", 100)) }, want: errNoSquid},
		"a cut body": {handler: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(b)))
			w.Write(b[:500])
		}},
		"above the limit": {f: Fetcher{MaxMask: 1282}, handler: func(w http.ResponseWriter, _ *http.Request) { w.Write(b) }},
		"without an end": {f: Fetcher{MaxMask: 1 << 16}, handler: func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write(b); err != nil {
					return
				}
			}
		}},
		"no answer":     {f: Fetcher{Timeout: 20 * time.Millisecond}, handler: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, want: context.DeadlineExceeded},
		"too many bits": {handler: func(w http.ResponseWriter, _ *http.Request) { w.Write(full(b)) }, want: squid.ErrOverfull},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := fetchFrom(t, c.f, c.handler)
			if err == nil || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("%v, want an error that wraps %v", err, c.want)
			}
			if there := got.Bytes != nil; there != errors.Is(err, squid.ErrOverfull) {
				t.Errorf("%d bytes are returned with %v", len(got.Bytes), err)
			}
		})
	}
}

// full returns the digest b with all cells set.
func full(b []byte) []byte {
	b = bytes.Clone(b)
	for i := squid.BlockBytes; i < len(b); i++ {
		b[i] = 255
	}
	return b
}

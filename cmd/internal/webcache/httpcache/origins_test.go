package httpcache

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel/internal/faultlog"
)

// An origin that can't be reached is logged when that begins, once per minute, and when it answers again, with stale
// responses and without.
func TestUnreachableInTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := false
		o := &origin{handle: func(w http.ResponseWriter, r *http.Request) {
			if down {
				unreachable(w, errors.New("connection refused"))
				return
			}
			w.Header().Set("Cache-Control", "max-age=1")
			_, _ = w.Write([]byte("x"))
		}}
		var log bytes.Buffer
		c := newTestCache(t, o, func(o *Options) {
			o.Disconnected, o.Log = time.Hour, slog.New(slog.NewTextHandler(&log, nil))
		})
		get(c, "/stored")
		time.Sleep(10 * time.Second)
		down = true
		for i := range 1210 { // 121 seconds
			path := "/stored"
			if i%2 == 1 {
				path = fmt.Sprintf("/%d", i)
			}
			get(c, path)
			time.Sleep(100 * time.Millisecond)
		}
		if since, err := c.Unreachable(); err == nil || !strings.Contains(err.Error(), "connection refused") || time.Since(since) != 121*time.Second {
			t.Errorf("the origin is unreachable since %v: %v", since, err)
		}
		down = false
		for range 50 {
			get(c, "/another")
			time.Sleep(100 * time.Millisecond)
		}
		synctest.Wait()
		if since, err := c.Unreachable(); err != nil {
			t.Errorf("the origin answers, but is unreachable since %v: %v", since, err)
		}
		lines := strings.Split(strings.TrimSpace(log.String()), "\n")
		if len(lines) != 4 || !strings.Contains(lines[0], `msg="origin is unreachable; a stale response is used" origin=`) ||
			!strings.Contains(lines[1], "omitted=599") || !strings.Contains(lines[3], `msg="origin answers again" origin=`) || !strings.Contains(lines[3], " lasted=2m") {
			t.Errorf("logged:\n%s", &log)
		}
	})
}

// An answer of a sibling is none of the origin: it does not end a fault.
func TestSiblingIsNotTheOrigin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &origin{handle: func(w http.ResponseWriter, _ *http.Request) { unreachable(w, errors.New("connection refused")) }}
		c := newTestCache(t, o, func(o *Options) {
			o.Siblings = func(upstream http.RoundTripper) http.RoundTripper {
				return roundTripper(func(r *http.Request) (*http.Response, error) {
					if r.URL.Path != "/held" {
						return upstream.RoundTrip(r)
					}
					return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
				})
			}
		})
		get(c, "/absent")
		time.Sleep(time.Minute)
		if got := get(c, "/held").StatusCode; got != http.StatusOK {
			t.Fatalf("status %d of what the sibling has", got)
		}
		if _, err := c.Unreachable(); err == nil {
			t.Error("the answer of a sibling ended the fault")
		}
	})
}

// roundTripper is a transport that is a function.
type roundTripper func(r *http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A cache that ends logs the faults that it has omitted, once.
func TestOmittedUntilTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		o := &origin{handle: func(w http.ResponseWriter, r *http.Request) { unreachable(w, errors.New("connection refused")) }}
		c := newTestCache(t, o, func(o *Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
		for i := range 5 {
			get(c, fmt.Sprintf("/%d", i))
			c.unstored(errors.New("disk full"))
		}
		log.Reset()
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{`msg="requests to the origin failed until the end" event=origin-failed origin=`, `msg="responses were not stored until the end" event=store-failed omitted=4`} {
			if strings.Count(log.String(), want) != 1 || strings.Count(log.String(), "omitted=4") != 2 {
				t.Errorf("logged %q, want %q once", &log, want)
			}
		}
	})
}

// A forward proxy logs the faults of maxOrigins origins separately, and the others together.
func TestManyOrigins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&log, nil))
		o := newOrigins()
		for range 3 {
			for i := range 10 * maxOrigins {
				o.unreachable(logger, fmt.Sprintf("http://host%d", i), errors.New("refused")).Warn("down")
			}
		}
		if n := strings.Count(log.String(), "\n"); n != maxOrigins+1 {
			t.Errorf("%d messages, want %d", n, maxOrigins+1)
		}
		time.Sleep(settle)
		for i := range maxOrigins {
			o.answers(logger, fmt.Sprintf("http://host%d", i)).Info("up")
		}
		if n := strings.Count(log.String(), "msg=up"); n != maxOrigins {
			t.Errorf("%d origins answer again, want %d", n, maxOrigins)
		}
		time.Sleep(faultlog.Period)
		log.Reset()
		o.unreachable(logger, "http://another", errors.New("refused")).Warn("down")
		if !strings.Contains(log.String(), "origin=http://another") || len(o.faults) != 1 {
			t.Errorf("logged %q, with %d faults", &log, len(o.faults))
		}
	})
}

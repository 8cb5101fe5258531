package web_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel/share"
)

// The next request waits as long as the server says, for at most ten minutes; that for a record without a head to wait
// for at most five seconds, the default of Poll.
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
			if _, err := c.WatchRecord(t.Context(), share.HeadName, nil); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(begin); took != want {
				t.Errorf("Retry-After %q: the next request after %v, want %v", value, took, want)
			}
			requests = 0
			_, _ = c.Record(t.Context(), share.HeadName)
			begin = time.Now()
			if _, err := c.Record(t.Context(), share.HeadName); err != nil || time.Since(begin) != min(want, 5*time.Second) {
				t.Errorf("Retry-After %q: %v, the next record after %v, want %v and at most 5s", value, err, time.Since(begin), want)
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

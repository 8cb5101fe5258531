package squidpeer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/foreign/squid"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/share/dir"
)

// upstream is a peer in memory, so that its time is that of a synctest bubble. answer returns a response for the
// n-th request, from 0.
type upstream struct {
	answer func(n int) (status int, body []byte, valid time.Duration)

	mu   sync.Mutex
	when []time.Time
}

func (u *upstream) RoundTrip(r *http.Request) (*http.Response, error) {
	u.mu.Lock()
	n := len(u.when)
	u.when = append(u.when, time.Now())
	u.mu.Unlock()
	status, body, valid := u.answer(n)
	if status == 0 {
		return nil, errors.New("connection refused")
	}
	now := time.Now().UTC()
	h := http.Header{"Date": {now.Format(http.TimeFormat)}, "Expires": {now.Add(valid).Format(http.TimeFormat)}}
	return &http.Response{StatusCode: status, Status: http.StatusText(status), Header: h, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Request: r}, nil
}

// requests returns the times of the requests, since the first.
func (u *upstream) requests() []time.Duration {
	u.mu.Lock()
	defer u.mu.Unlock()
	var ds []time.Duration
	for _, t := range u.when {
		ds = append(ds, t.Sub(u.when[0]))
	}
	return ds
}

// running runs a relay of one peer until the test ends.
func running(t *testing.T, u *upstream, publication *Publication) *Relay {
	t.Helper()
	r, err := New(Options{
		Peers:   []Peer{{Name: "a", URL: "http://a:3128" + Path, Publication: publication}},
		Fetcher: Fetcher{Transport: u}, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); r.Run(ctx) }()
	t.Cleanup(func() { stop(); <-done })
	return r
}

func get(r *Relay, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r.Handler().ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	return w
}

// TestServes: the served digest has all keys of the peer's, and is valid as long.
func TestServes(t *testing.T) {
	b := captured(t)
	synctest.Test(t, func(t *testing.T) {
		u := &upstream{answer: func(int) (int, []byte, time.Duration) { return 200, b, 10 * time.Minute }}
		r := running(t, u, nil)
		began := time.Now()
		synctest.Wait()
		for _, path := range []string{Path, "/a/store_digest"} {
			w := get(r, path)
			d, err := squid.Parse(w.Body.Bytes(), squid.Limits{})
			if w.Code != 200 || err != nil {
				t.Fatalf("%s: status %d, %v", path, w.Code, err)
			}
			original, _ := squid.Parse(b, squid.Limits{})
			for i, x := range original.Mask {
				if x&^d.Mask[i] != 0 {
					t.Fatalf("%s: byte %d of the mask lacks bits", path, i)
				}
			}
			h := w.Header()
			if h.Get("Content-Type") != ContentType || h.Get("Content-Length") != fmt.Sprint(w.Body.Len()) ||
				h.Get("Expires") != began.Add(10*time.Minute).UTC().Format(http.TimeFormat) || h.Get("Last-Modified") == "" {
				t.Errorf("%s: headers %v", path, h)
			}
		}
		if w := get(r, "/b/store_digest"); w.Code != 404 {
			t.Errorf("of an unknown peer: status %d, want 404", w.Code)
		}
	})
}

// TestSchedule: the next fetch is when the digest expires. After failures the wait doubles.
func TestSchedule(t *testing.T) {
	b := captured(t)
	synctest.Test(t, func(t *testing.T) {
		u := &upstream{answer: func(n int) (int, []byte, time.Duration) {
			switch n {
			case 0, 1: // it is building its digest
				return 404, nil, 0
			case 2:
				return 0, nil, 0
			case 3:
				return 200, b, 10 * time.Minute
			case 4:
				return 200, b, -time.Second // it has not been rewritten yet
			case 5:
				return 200, b[:200], 10 * time.Minute
			case 6:
				return 200, b, 7 * 24 * time.Hour
			}
			return 200, b, time.Second
		}}
		r := running(t, u, nil)
		synctest.Wait()
		if w := get(r, Path); w.Code != 404 || r.Status()[0].State != none {
			t.Errorf("without a digest: status %d and %+v, want 404", w.Code, r.Status()[0])
		}
		time.Sleep(90 * time.Minute)
		synctest.Wait()
		at := func(seconds ...int) (ds []time.Duration) {
			sum := 0
			for _, s := range seconds {
				sum += s
				ds = append(ds, time.Duration(sum)*time.Second)
			}
			return ds
		}
		want := at(0, 5, 10, 20, 600, 10, 5, 3600, 10, 10)
		if got := u.requests(); len(got) < len(want) || fmt.Sprint(got[:len(want)]) != fmt.Sprint(want) {
			t.Errorf("requests at %v, want %v", got[:min(len(got), len(want))], want)
		}
		if s := r.Status()[0]; s.Failures != 4 || s.State != current && s.State != expired {
			t.Errorf("status %+v, want 4 failures", s)
		}
	})
}

// TestExpires: a digest that has expired is served for a minute more, with its Expires in the past, and then no
// longer, also if the peer still sends it.
func TestExpires(t *testing.T) {
	b := captured(t)
	for name, u := range map[string]*upstream{
		"the peer fails": {answer: func(n int) (int, []byte, time.Duration) {
			if n == 0 {
				return 200, b, 5 * time.Minute
			}
			return 503, nil, 0
		}},
		"the peer sends it again": {answer: func(int) (int, []byte, time.Duration) { return 200, b, -2 * time.Minute }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				first := time.Now()
				r := running(t, u, nil)
				synctest.Wait()
				if name == "the peer fails" {
					time.Sleep(5*time.Minute + 59*time.Second)
					w := get(r, Path)
					expires, err := http.ParseTime(w.Header().Get("Expires"))
					if w.Code != 200 || err != nil || !expires.Before(time.Now()) || r.Status()[0].State != failed || !r.Status()[0].Served {
						t.Errorf("in the minute after it expired: status %d, expires %v, %v", w.Code, expires, err)
					}
				}
				time.Sleep(time.Until(first.Add(6 * time.Minute)))
				if w := get(r, Path); w.Code != 404 || r.Status()[0].State == current || r.Status()[0].Served {
					t.Errorf("later: status %d, %+v, want 404", w.Code, r.Status()[0])
				}
			})
		})
	}
}

// TestStatus: the page states why there is no digest.
func TestStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := running(t, &upstream{answer: func(int) (int, []byte, time.Duration) { return 200, full(captured(t)), time.Hour }}, nil)
		synctest.Wait()
		if text := get(r, "/").Body.String(); !strings.Contains(text, "failed") || !strings.Contains(text, "65 %") {
			t.Errorf("the page lacks the reason:\n%s", text)
		}
		var all []Status
		if err := json.Unmarshal(get(r, "/status.json").Body.Bytes(), &all); err != nil || len(all) != 1 || all[0].State != failed || all[0].Reason == "" || all[0].Served {
			t.Errorf("%+v, %v", all, err)
		}
	})
}

// TestPublication: subscribers follow the peer's digest, and don't take it for exact after it expired.
func TestPublication(t *testing.T) {
	key, _, err := share.NewKey("example.org/a")
	if err != nil {
		t.Fatal(err)
	}
	b := captured(t)
	where := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		p, err := Publish(t.Context(), where, key, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		u := &upstream{answer: func(n int) (int, []byte, time.Duration) {
			if n == 0 {
				return 200, b, 30 * time.Minute
			}
			return 503, nil, 0
		}}
		r := running(t, u, p)
		synctest.Wait()
		s, err := share.NewSubscriber(t.Context(), share.SubscriberOptions{Source: dir.Open(where), Verifier: key.Verifier, Kinds: filter.All, Stale: share.StaleError})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for _, c := range []struct {
			after time.Duration
			exact bool
		}{{0, true}, {29 * time.Minute, true}, {35 * time.Minute, false}} {
			time.Sleep(c.after)
			if err := s.Update(t.Context()); err != nil && c.exact {
				t.Fatal(err)
			}
			if got := s.View().Exact(); got != c.exact {
				t.Errorf("after %v: exact is %v", c.after, got)
			}
		}
		d, _ := squid.Parse(b, squid.Limits{})
		want, err := d.Filter()
		if err != nil || !s.View().Filter().State().Equal(want.State()) {
			t.Errorf("the subscriber's filter differs from the peer's, %v", err)
		}
		if w := get(r, "/a/publication/head"); w.Code != 200 {
			t.Errorf("the head over HTTP: status %d", w.Code)
		}
	})
}

func TestNewRefuses(t *testing.T) {
	for what, names := range map[string][]string{"no peer": {}, "twice": {"a", "a"}, "a slash": {"a/b"}, "no name": {""}, "a path": {".."}, "Squid's": {"squid-internal-periodic"}} {
		var o Options
		for _, n := range names {
			o.Peers = append(o.Peers, Peer{Name: n})
		}
		if _, err := New(o); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}

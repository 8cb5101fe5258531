package cacheserver

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/internal/await"
	"github.com/umbel-filters/umbel/siblings"
)

// cutting cuts the bodies of what siblings hold.
type cutting struct {
	http.RoundTripper
	after int64
}

func (c cutting) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := c.RoundTripper.RoundTrip(r)
	if err == nil && r.Header[siblings.HopHeader] != nil && res.StatusCode == http.StatusOK {
		res.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(io.LimitReader(res.Body, c.after), broken{}), res.Body}
	}
	return res, err
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// lines is a log.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lines) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), text)
}

// A sibling whose bodies break off fails at most one client, before something was sent none, and is logged as what failed, not the origin.
func TestSiblingsBroken(t *testing.T) {
	for _, after := range []int64{100, 50_000} {
		t.Run(fmt.Sprint("after=", after), func(t *testing.T) {
			origin := originOf(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Cache-Control", "max-age=300")
				w.Header().Set("Content-Length", "100000")
				w.Write(make([]byte, 100_000))
			})
			var log lines
			n := 0
			list := startSiblings(t, 2, func(c *Config) {
				c.Origin = origin
				if n++; n == 2 {
					c.Siblings.HTTP = cutting{c.Siblings.HTTP, after}
					c.Log = slog.New(slog.NewTextHandler(&log, nil))
					c.Siblings.Log = c.Log
				}
			})
			const objects = 12
			for i := range objects {
				request(t, list[0], fmt.Sprint(origin, "/", i))
			}
			for i := range objects {
				await.True(t, "it is published", func() bool { return holders(t, list[1], fmt.Sprint(origin, "/", i)) == 1 })
			}
			failed, began := 0, time.Now()
			for i := range objects {
				res, err := http.Get(fmt.Sprint("http://", list[1].Addr(), "/", i))
				if err != nil {
					t.Fatal(err)
				}
				if got, err := io.Copy(io.Discard, res.Body); err != nil {
					failed++
				} else if got != 100_000 {
					t.Errorf("%d bytes without an error", got)
				}
				res.Body.Close()
			}
			// Suspended for one second, then two, and so on.
			if tries := 1 + int(time.Since(began)/time.Second); failed > tries || after < 1000 && failed > 0 {
				t.Errorf("%d of %d clients got a part", failed, objects)
			}
			await.True(t, "it is logged", func() bool { return log.count("a sibling is not tried") == 1 })
			if n := log.count("the answer of the origin is incomplete"); n > 0 {
				t.Errorf("%d messages state that the origin failed", n)
			}
			s := list[1].member.Status()
			if p := s.Peers[0]; s.Hits != 0 || p.Failed == 0 {
				t.Errorf("%+v", s)
			}
		})
	}
}

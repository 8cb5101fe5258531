package cacheserver

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/umbel-filters/umbel/internal/hop/hoptest"
)

// What passes through a cache arrives as it was sent. docs/cache.md has the same list. UMBEL_LONG=1 makes 100,000 exchanges.
func TestLaw(t *testing.T) {
	exchanges := 300
	if os.Getenv("UMBEL_LONG") != "" {
		exchanges = 20_000
	}
	get := func(method string) bool { return method == http.MethodGet }
	for _, c := range []struct {
		name                         string
		http2, disk, honest, forward bool // the origin is honest: it sends no malformed answer
	}{
		{name: "HTTP/1"}, {name: "HTTP/2", http2: true}, {name: "faults of clients only", honest: true}, {name: "disk", disk: true}, {name: "forward proxy", forward: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			origin := hoptest.NewOrigin(t)
			config := testConfig(origin.URL)
			var log logged
			config.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
			if c.http2 {
				withTLS(t, &config)
			}
			if c.forward {
				config.Origin = nil
			}
			if c.disk {
				config.Disk = t.TempDir()
			}
			s := start(t, config)
			law := hoptest.Law{
				Proxy: s.Addr().String(), HTTP2: c.http2, Forward: c.forward, Origin: origin, Exchanges: exchanges, Seed: 1,
				Exceptions: []hoptest.Exception{
					{Of: hoptest.Answer, Names: "Cache-Status", Change: hoptest.Appended, Why: "states where the answer comes from (RFC 9211)"},
					{Of: hoptest.Answer, Names: "Age", Change: hoptest.Replaced, Why: "is computed (RFC 9111, section 5.1)", If: get},
					{Of: hoptest.Request, Names: "X-Forwarded-For X-Forwarded-Proto Forwarded X-Real-Ip", Change: hoptest.MayGo, Why: "could change what others get", If: get},
				},
				Trailers: func(answer http.Header) bool {
					return !strings.Contains(strings.Join(answer["Cache-Status"], ""), "stored")
				},
			}
			if c.http2 {
				law.Exceptions = append(law.Exceptions, hoptest.Exception{Of: hoptest.Request, Names: "X-Forwarded-Proto", Change: hoptest.Replaced, Why: "is the scheme of the site"})
			}
			if c.honest {
				law.Healthy = func() error {
					_, err := s.Cache.Unreachable()
					return errors.Join(err, log.error())
				}
			}
			law.Run(t)
		})
	}
}

// logged is a log.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// error returns what was logged as an error.
func (l *logged) error() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.text.Len() == 0 {
		return nil
	}
	return errors.New(l.text.String())
}

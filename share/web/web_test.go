package web_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/share/dir"
	"github.com/umbel-filters/umbel/share/sharetest"
	"github.com/umbel-filters/umbel/share/web"
)

// poll is short, so that tests with plain servers are.
const poll = 20 * time.Millisecond

// client returns a client with a pool of connections of its own.
func client(t testing.TB, base string) *web.Client {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	c, err := web.NewClient(base, web.ClientOptions{HTTP: &http.Client{Transport: transport}, Poll: poll})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// serve serves a handler and returns its URL.
func serve(t testing.TB, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s.URL
}

// publication tests a source and a publication.
func publication(t *testing.T, open sharetest.Open) {
	sharetest.Source(t, open)
	t.Run("Publication", func(t *testing.T) { sharetest.Publication(t, open) })
}

// onlyStore hides the optional methods of a store.
type onlyStore struct{ share.Store }

func (s onlyStore) Object(ctx context.Context, name string, offset int64) (io.ReadCloser, error) {
	b, err := s.Store.Object(ctx, name, offset)
	if err != nil {
		return nil, err
	}
	return struct{ io.ReadCloser }{b}, nil
}

func TestHandler(t *testing.T) {
	for _, c := range []struct {
		name string
		open func(t *testing.T) share.Store
	}{
		{"Memory", func(*testing.T) share.Store { return new(share.Memory) }},
		{"Directory", func(t *testing.T) share.Store { return directory(t, t.TempDir()) }},
		{"Plain", func(*testing.T) share.Store { return onlyStore{new(share.Memory)} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			publication(t, func(t *testing.T) (share.Store, share.Source) {
				s := c.open(t)
				return s, client(t, serve(t, web.NewHandler(s, web.HandlerOptions{})))
			})
		})
	}
}

// A handler over a client is a relay.
func TestRelay(t *testing.T) {
	publication(t, func(t *testing.T) (share.Store, share.Source) {
		s := new(share.Memory)
		origin := serve(t, web.NewHandler(s, web.HandlerOptions{}))
		return s, client(t, serve(t, web.NewHandler(client(t, origin), web.HandlerOptions{})))
	})
}

// A directory under a web server that knows nothing of publications.
func TestFileServer(t *testing.T) {
	publication(t, func(t *testing.T) (share.Store, share.Source) {
		path := t.TempDir()
		return directory(t, path), client(t, serve(t, http.FileServer(http.Dir(path))))
	})
}

// The publication may be below a path and need a query.
func TestBase(t *testing.T) {
	for _, path := range []string{"/a/b", "/a/b/"} {
		sharetest.Publication(t, func(*testing.T) (share.Store, share.Source) {
			s := new(share.Memory)
			handler := http.StripPrefix("/a/b", web.NewHandler(s, web.HandlerOptions{}))
			base := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Query().Get("token") != "secret" {
					w.WriteHeader(http.StatusForbidden)
					return
				}
				handler.ServeHTTP(w, r)
			}))
			return s, client(t, base+path+"?token=secret")
		})
	}
	for bad, want := range map[string]string{
		"":                          "no scheme",
		"example.org/x":             `"example.org/x", has no scheme: write https:// or http:// before the host, as in https://`,
		"127.0.0.1:8780/x":          "no scheme",
		"u:secret@127.0.0.1:8780/x": `"127.0.0.1:8780/x", has no scheme`,
		"ftp://u:secret@host/x":     `has the scheme "ftp", want https or http`,
		"http://":                   "has no host",
		"http://example.org/#x":     "has a fragment",
		"http://u:secret@a b/":      "invalid character",
	} {
		_, err := web.NewClient(bad, web.ClientOptions{})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("NewClient of %q: %v, want %q and no password", bad, err, want)
		}
		if !errors.Is(err, umbel.ErrGoal) || strings.Contains(err.Error(), umbel.ErrGoal.Error()) {
			t.Errorf("NewClient of %q: %v, want an umbel.ErrGoal without its text", bad, err)
		}
	}
}

func directory(t testing.TB, path string) *dir.Store {
	t.Helper()
	s, err := dir.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// listen serves on a free port and returns the URL.
func listen(t testing.TB, s *http.Server) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve(l)
	t.Cleanup(func() { s.Close() })
	return "http://" + l.Addr().String()
}

// brokenSource always fails.
type brokenSource struct{}

var errBroken = errors.New("the source is broken")

func (brokenSource) Record(context.Context, string) ([]byte, error) { return nil, errBroken }

func (brokenSource) Object(context.Context, string, int64) (io.ReadCloser, error) {
	return nil, errBroken
}

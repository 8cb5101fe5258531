package httpapi

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/filter"
)

// brokenBodies are bodies whose transfer is faulty.
var brokenBodies = map[string]string{
	"no length of a chunk": "zz\r\n",
	"a bare line feed":     "1\n{\r\n0\r\n\r\n",
	"no end of a chunk":    "1\r\n{x\r\n0\r\n\r\n",
	"half a chunk":         "20\r\n{\"keys\"",
	"no last chunk":        "1\r\n{\r\n",
	"a negative length":    "-1\r\n",
	"a long length":        "fffffffffffffffff\r\n",
}

// A body that is transferred faultily is the client's fault, on each route and for each type: the answer is 400, never 500,
// and nothing is logged as an error.
func TestBrokenBodies(t *testing.T) {
	var log bytes.Buffer
	e := engine.New(engine.Options{Kinds: filter.All, Now: func() int64 { return 1 }})
	n := serve(t, Options{Engine: e, Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))})
	if _, _, err := e.Create("f", "counting", umbel.Goal{Keys: 100, FPRate: 0.01}, nil); err != nil {
		t.Fatal(err)
	}
	reads := 0 // exchanges in which the body was read
	for _, r := range (&handler{}).routes() {
		method, path, _ := strings.Cut(r.pattern, " ")
		if method == http.MethodGet || method == http.MethodDelete {
			continue
		}
		path = strings.ReplaceAll(path, "{name}", "f")
		for _, media := range []string{api.MediaJSON, api.MediaLines, api.MediaText, api.MediaDigests, api.MediaContainer, api.MediaDelta} {
			for what, body := range brokenBodies {
				status := broken(t, n.url, method, path, media, body)
				if status >= 500 && status != http.StatusNotImplemented || status == 0 {
					t.Errorf("%s %s of %s with %s: %d", method, path, media, what, status)
				}
				if status == http.StatusBadRequest {
					reads++
				}
			}
		}
	}
	if most := 25 * len(brokenBodies); reads < most {
		t.Errorf("%d bodies were read, want at least %d", reads, most)
	}
	for _, c := range []struct{ method, path, media string }{
		{"PUT", "/v1/filters/f", api.MediaJSON}, {"PUT", "/v1/filters/f", api.MediaContainer}, {"PATCH", "/v1/filters/f", api.MediaJSON}, {"POST", "/v1/plan", api.MediaJSON},
		{"POST", "/v1/filters/f/add", api.MediaJSON}, {"POST", "/v1/filters/f/add", api.MediaText}, {"POST", "/v1/filters/f/has", api.MediaLines},
		{"POST", "/v1/filters/f/count", api.MediaDigests}, {"POST", "/v1/filters/f/remove", api.MediaText}, {"POST", "/v1/filters/f/fold", api.MediaJSON},
		{"POST", "/v1/filters/f/merge", api.MediaContainer}, {"POST", "/v1/filters/f/diff", api.MediaContainer}, {"POST", "/v1/filters/f/patch", api.MediaDelta},
	} {
		for what, body := range brokenBodies {
			if status := broken(t, n.url, c.method, c.path, c.media, body); status != http.StatusBadRequest {
				t.Errorf("%s %s of %s with %s: %d, want 400", c.method, c.path, c.media, what, status)
			}
		}
	}
	if log.Len() > 0 {
		t.Errorf("logged: %s", log.String())
	}
}

// broken sends a request with chunks and returns the status of the answer, 0 if there is none.
func broken(t *testing.T, url, method, path, media, body string) int {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: %s\r\nTransfer-Encoding: chunked\r\n\r\n%s", method, path, media, body)
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0
	}
	answer.Body.Close()
	return answer.StatusCode
}

// An answer that comes before the body has ended leaves the server in order, with HTTP/1.1 and HTTP/2, whether the body then
// ends, goes on, or breaks off.
func TestEarlyAnswers(t *testing.T) {
	for _, version := range []int{1, 2} {
		e := engine.New(engine.Options{Kinds: filter.All, Now: func() int64 { return 1 }})
		s := httptest.NewUnstartedServer(New(Options{Engine: e}))
		s.EnableHTTP2 = version == 2
		s.StartTLS()
		client := s.Client()
		client.Timeout = time.Minute // the server would wait as long for a body that it reads before it answers
		for path, media := range map[string]string{
			"/v1/filters/none/add": api.MediaText, "/v1/filters/none/has": api.MediaJSON, "/v1/nothing": api.MediaText, "/v1/plan": api.MediaDelta,
		} {
			for what, end := range map[string]func(w *io.PipeWriter){
				"ends":       func(w *io.PipeWriter) { w.Close() },
				"goes on":    func(w *io.PipeWriter) { _, _ = w.Write(make([]byte, 1<<20)); w.Close() },
				"breaks off": func(w *io.PipeWriter) { w.CloseWithError(io.ErrClosedPipe) },
			} {
				body, send := io.Pipe()
				r, err := http.NewRequest(http.MethodPost, s.URL+path, body)
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("Content-Type", media)
				var sent sync.WaitGroup
				sent.Go(func() { _, _ = io.WriteString(send, "a\n") })
				answer, err := client.Do(r)
				if err != nil || answer.ProtoMajor != version || answer.StatusCode/100 != 4 {
					t.Fatalf("HTTP/%d, %s: %v, %v", version, path, answer, err)
				}
				sent.Go(func() { end(send) })
				_, _ = io.Copy(io.Discard, answer.Body)
				answer.Body.Close()
				body.Close()
				sent.Wait()
				if answer, err := client.Get(s.URL + "/healthz"); err != nil || answer.StatusCode != http.StatusOK {
					t.Fatalf("HTTP/%d, %s, the body %s: afterwards %v, %v", version, path, what, answer, err)
				} else {
					answer.Body.Close()
				}
			}
		}
		s.Close()
	}
}

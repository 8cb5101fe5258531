package httpcache

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/internal/await"
)

// leaving is a client that closes its connection when it has received n bytes.
type leaving struct {
	*httptest.ResponseRecorder
	n     int
	close context.CancelFunc
}

func (l *leaving) Write(p []byte) (int, error) {
	n, err := l.ResponseRecorder.Write(p)
	if l.n -= n; l.n <= 0 {
		l.close()
	}
	return n, err
}

// Each request is counted once, also if the client closes its connection after the last byte or before it.
func TestRequestsAreCounted(t *testing.T) {
	const size = 1000
	end := make(chan struct{})
	o := &origin{handle: func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "max-age=100")
		w.Header().Set("Content-Length", fmt.Sprint(size))
		_, _ = io.WriteString(w, strings.Repeat("x", size))
		<-end // the end of the body arrives later
	}}
	c := newTestCache(t, o)
	for i, after := range []int{size, 1} {
		ctx, cancel := context.WithCancel(t.Context())
		w := &leaving{httptest.NewRecorder(), after, cancel}
		r := httptest.NewRequest(http.MethodGet, fmt.Sprintf("/%d", i), nil).WithContext(ctx)
		func() {
			defer func() {
				if fault := recover(); fault != nil && fault != http.ErrAbortHandler {
					panic(fault)
				}
			}()
			c.ServeHTTP(w, r)
		}()
		cancel()
		if n := c.Stats().Misses.Load(); n != uint64(i+1) {
			t.Errorf("%d misses are counted of %d", n, i+1)
		}
	}
	close(end)
	await.True(t, "both responses are stored", func() bool { return c.Stats().Stored.Load() == 2 })
	if get(c, "/0"); c.Stats().Hits.Load() != 1 {
		t.Error("the hit is not counted")
	}
}

// A request whose client goes away before the origin answers is counted, too.
func TestAbandonedIsCounted(t *testing.T) {
	asked, end := make(chan struct{}), make(chan struct{})
	o := &origin{handle: func(http.ResponseWriter, *http.Request) { close(asked); <-end }}
	c := newTestCache(t, o)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { _ = recover() }() // http.ErrAbortHandler
		c.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/a", nil).WithContext(ctx))
	}()
	<-asked
	cancel()
	<-done
	close(end)
	if n := c.Stats().Abandoned.Load(); n != 1 {
		t.Errorf("%d abandoned requests are counted, want 1", n)
	}
}

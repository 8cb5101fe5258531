package web_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/share/web"
)

// A program distinguishes the statuses of refused requests.
func TestStatusError(t *testing.T) {
	for _, status := range []int{401, 403, 404, 410, 429, 500} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if status == 429 {
				w.Header().Set("Retry-After", "7")
			}
			w.WriteHeader(status)
		}))
		defer server.Close()
		c, err := web.NewClient(server.URL, web.ClientOptions{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Record(t.Context(), share.HeadName)
		var e *web.StatusError
		ok := errors.As(err, &e)
		if !ok || e.StatusCode != status || e.RetryAfter > 0 != (status == 429) || e.RetryAfter > 7*time.Second {
			t.Errorf("status %d: %v", status, err)
		}
		if errors.Is(err, share.ErrNotFound) != (status == 404 || status == 410) {
			t.Errorf("status %d: %v", status, err)
		}
	}
}

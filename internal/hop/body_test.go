package hop

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// closing is a body that ends together with its last bytes, and is closed then, as the server does when it sends the answer.
type closing struct{ rest io.Reader }

func (c *closing) Read(p []byte) (int, error) {
	n, _ := c.rest.Read(p)
	if n == 0 {
		return 0, http.ErrBodyReadAfterClose
	}
	return n, io.EOF
}

func (c *closing) Close() error { return nil }

// After the end of a body there is nothing, not a fault of the client.
func TestBodyAfterItsEnd(t *testing.T) {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader("abc"))
	r.Body = &closing{strings.NewReader("abc")}
	b := newBody(httptest.NewRecorder(), r, time.Minute)
	for range 3 {
		if _, err := io.ReadAll(b); err != nil || b.failed() != nil {
			t.Fatal(err, b.failed())
		}
	}
}

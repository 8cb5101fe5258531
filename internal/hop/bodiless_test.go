package hop

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

// A request whose body never ends gets its response, and the connection ends.
func TestBodiless(t *testing.T) {
	s := httptest.NewServer(Bodiless(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "page") })))
	defer s.Close()
	for _, length := range []string{"Content-Length: 100", "Transfer-Encoding: chunked"} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			c, err := net.Dial("tcp", s.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(c, method+" / HTTP/1.1\r\nHost: x\r\n"+length+"\r\n\r\n4\r\n"); err != nil {
				t.Fatal(err)
			}
			in := bufio.NewReader(c)
			r, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Fatal(err)
			}
			if b, err := io.ReadAll(r.Body); string(b) != "page" || err != nil || !r.Close {
				t.Errorf("%s with %s: %q, %v, closes: %v", method, length, b, err, r.Close)
			}
			if _, err := in.ReadByte(); err != io.EOF {
				t.Errorf("%s with %s: the connection goes on: %v", method, length, err)
			}
			c.Close()
		}
	}
	r, err := http.Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if r.Close {
		t.Error("a connection without a body ends")
	}
}

package origin

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/research/cachetests/internal/suite"
)

// load returns the only test of these requests.
func load(t testing.TB, requests string) *suite.Test {
	t.Helper()
	tests, err := suite.Load(strings.NewReader(`[{"tests": [{"id": "a", "requests": [` + requests + `]}]}]`))
	if err != nil {
		t.Fatal(err)
	}
	return tests[0]
}

// listen starts a server that ends with the test.
func listen(t testing.TB) *Server {
	t.Helper()
	s, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// send sends bytes on a new connection and returns all that the server sends until it closes it.
func send(t *testing.T, s *Server, request string) string {
	t.Helper()
	c, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(answer)
}

// get returns a request with number n, and more header lines.
func get(n int, lines ...string) string {
	return fmt.Sprintf("GET /test/t HTTP/1.1\r\nHost: h\r\nReq-Num: %d\r\n%s\r\n", n, strings.Join(lines, ""))
}

const last = "Connection: close\r\n"

// TestBytes tests the forms of messages that net/http does not send.
func TestBytes(t *testing.T) {
	for name, c := range map[string]struct {
		prescribed, request string
		want                []string
		not                 string
	}{
		"phrase": {`{"response_status": [404, "Lost"]}`, get(1, last),
			[]string{"HTTP/1.1 404 Lost\r\n", "Content-Type: text/plain\r\n", "Content-Length: 1\r\n", "Connection: close\r\n\r\nt"}, ""},
		"lines": {`{"response_headers": [["a", "1"], ["a", "ü"]]}`, get(1, last), []string{"\r\na: 1\r\na: \xfc\r\n"}, ""},
		"false length": {`{"response_headers": [["Content-Length", "10"]], "response_body": "abc"}`, get(1),
			[]string{"Content-Length: 10\r\n", "\r\n\r\nabc"}, ""},
		"transfer encoding": {`{"response_headers": [["Transfer-Encoding", "x"]]}`, get(1),
			[]string{"Transfer-Encoding: x\r\n", "\r\n\r\nt"}, "Content-Length"},
		"interim": {`{"interim_responses": [[102], [103, [["link", "</a>"]]]]}`, get(1, last),
			[]string{"HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK\r\n"}, ""},
		"head":       {`{}`, strings.Replace(get(1, last), "GET", "HEAD", 1), []string{"close\r\n\r\n"}, "Content-Length"},
		"no content": {`{"response_status": [204, "No"]}`, get(1, last), []string{"close\r\n\r\n"}, "Content-Length"},
		"connection": {`{"response_headers": [["Connection", "a"]]}`, get(1, last), []string{"Connection: a\r\n"}, "Connection: close"},
		"disconnect": {`{"disconnect": true}`, get(1), []string{""}, "HTTP"},
		"kept":       {`{}, {"response_body": "second"}`, get(1) + get(2, last), []string{"keep-alive\r\n\r\ntHTTP/1.1 200", "second"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := listen(t)
			s.Add("t", load(t, c.prescribed))
			got := send(t, s, c.request)
			for _, want := range c.want {
				if !strings.Contains(got, want) {
					t.Errorf("%q, want it to contain %q", got, want)
				}
			}
			if c.not != "" && strings.Contains(got, c.not) {
				t.Errorf("%q, want no %q", got, c.not)
			}
		})
	}
}

func TestValidates(t *testing.T) {
	for _, c := range []struct {
		first, condition, status string
	}{
		{`["ETag", "\"a\""]`, "If-None-Match: \"a\"\r\n", "304"},
		{`["ETag", "\"a\""]`, "If-None-Match: \"b\"\r\n", "999"},
		{`["ETag", "\"a\""]`, "", "999"},
		{`["Last-Modified", "then"]`, "If-Modified-Since: then\r\n", "304"},
		{`["Last-Modified", "then"]`, "If-Modified-Since: now\r\n", "999"},
		{`["Last-Modified", 0]`, "If-Modified-Since: \r\n", "999"},
	} {
		s := listen(t)
		s.Add("t", load(t, `{"response_headers": [`+c.first+`]}, {"expected_type": "etag_validated"}`))
		if got := send(t, s, get(2, c.condition, last)); !strings.HasPrefix(got, "HTTP/1.1 "+c.status) {
			t.Errorf("%s and %q: %.20q, want status %s", c.first, c.condition, got, c.status)
		}
	}
}

func TestSeen(t *testing.T) {
	s := listen(t)
	s.Add("t", load(t, `{"response_headers": [["A", "1"], ["A", "2"], ["B", "3", false]]}, {}`))
	send(t, s, get(2, last))
	if got := send(t, s, get(1, "X: y\r\nX: z\r\n", last)); !strings.Contains(got, "Server-Request-Count: 2\r\n") || !strings.Contains(got, "Request-Numbers: 2 1\r\n") {
		t.Errorf("%q", got)
	}
	for _, other := range []string{"GET /test/u", "GET /", "GET http://h/other/t"} {
		if got := send(t, s, other+" HTTP/1.1\r\nHost: h\r\n\r\n"); !strings.HasPrefix(got, "HTTP/1.1 404") {
			t.Errorf("%s: %.20q, want status 404", other, got)
		}
	}
	if got := send(t, s, get(3)); !strings.HasPrefix(got, "HTTP/1.1 409") {
		t.Errorf("request 3 of 2: %.20q, want status 409", got)
	}
	seen := s.Remove("t")
	if len(seen) != 2 || seen[0].Number != 2 || seen[1].Number != 1 || Joined(seen[1].Header, "x") != "y, z" {
		t.Fatalf("%+v", seen)
	}
	if sent := seen[1].Sent; len(sent) != 1 || sent[0] != (Pair{"A", "1, 2"}) {
		t.Errorf("%+v, want the field that is compared", sent)
	}
	if s.Remove("t") != nil {
		t.Error("a token that was removed has requests")
	}
}

// TestRefuses tests that the server ends connections on which no request arrives.
func TestRefuses(t *testing.T) {
	s := listen(t)
	s.Add("t", load(t, `{}`))
	for _, bad := range []string{
		"\r\n\r\n\r\n", "GET\r\n\r\n", "GET /test/t HTTP/1.1\r\n: \r\n\r\n",
		"POST /test/t HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
	} {
		if got := send(t, s, bad); got != "" {
			t.Errorf("%q: %q, want nothing", bad, got)
		}
	}
	if seen := s.Remove("t"); len(seen) != 0 {
		t.Errorf("%+v, want no requests", seen)
	}
}

// TestClose tests that Close ends pauses and open connections.
func TestClose(t *testing.T) {
	s := listen(t)
	s.Add("t", load(t, `{"response_pause": 60}`))
	c, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	io.WriteString(c, get(1))
	s.Close()
	if _, err := net.Dial("tcp", s.Addr()); err == nil {
		t.Error("a closed server accepts connections")
	}
}

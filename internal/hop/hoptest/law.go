package hoptest

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// Law is the law of one proxy: what arrives is what was sent.
type Law struct {
	Proxy      string // host:port of the proxy, which has the origin
	HTTP2      bool   // the proxy has TLS, and clients use HTTP/2
	Forward    bool   // the proxy has no origin: requests have the whole URL
	Origin     *Origin
	Exceptions []Exception // besides those of every proxy
	// Trailers reports whether the trailers of an answer with these fields pass; nil: always.
	Trailers func(answer http.Header) bool
	// Healthy returns an error if the proxy counts or logs a failure of the origin. It is called after faults of clients. If it is
	// not nil, no answer is malformed.
	Healthy func() error
	// Files is the path below which a proxy passes files on: all requests are GET or HEAD without a body, and answers have status 200, 206 or 416.
	Files     string
	Exchanges int
	Seed      uint64
}

// workers is the number of clients at the same time.
const workers = 4

// Run tests the law. It reports some violations.
func (l Law) Run(t *testing.T) {
	t.Helper()
	l.Exceptions = append(append([]Exception{}, required...), l.Exceptions...)
	var next, violations atomic.Int64
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			var c client = &rawClient{address: l.Proxy}
			if l.HTTP2 {
				c = newHTTP2Client(l.Proxy)
			}
			defer c.close()
			for {
				number := int(next.Add(1))
				if number > l.Exchanges || violations.Load() >= 5 {
					return
				}
				e := newExchange(&l, number)
				if err := l.check(c, e); err != nil {
					violations.Add(1)
					t.Errorf("exchange %d of seed %d: %v\nrequest %.400q\nanswer %.400q", number, l.Seed, err, e.sentRequest(), e.sentAnswer())
				}
			}
		})
	}
	group.Wait()
}

// check sends one request and returns what is wrong.
func (l Law) check(c client, e *exchange) error {
	l.Origin.prescribe(e)
	got, err := c.exchange(e)
	arrived := l.Origin.take(e.number)
	if f := e.request.fault; f != nil && f.mended == nil {
		return l.refused(f, got, err)
	}
	if arrived == nil {
		return fmt.Errorf("the request did not arrive; the answer is %s, error %v", summary(got), err)
	}
	if err := l.requestArrived(e, arrived); err != nil {
		return err
	}
	if f := e.answer.fault; f != nil && f.mended == nil {
		if err == nil && got.status() != http.StatusBadGateway {
			return fmt.Errorf("the answer is malformed (%s), and arrives as %s", f.name, summary(got))
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("the answer %s: %w", summary(got), err)
	}
	return l.answerArrived(e, got)
}

// refused checks the answer to a malformed request.
func (l Law) refused(f *fault, got *received, err error) error {
	switch {
	case err == nil && (got.status() < 400 || got.status() > 499 && got.status() != http.StatusNotImplemented &&
		got.status() != http.StatusHTTPVersionNotSupported):
		return fmt.Errorf("the request is malformed (%s), and is answered by %s", f.name, summary(got))
	case l.Healthy != nil:
		if err := l.Healthy(); err != nil {
			return fmt.Errorf("the request is malformed (%s), which is a failure of the origin: %w", f.name, err)
		}
	}
	return nil
}

// requestArrived compares a request with what arrived of it.
func (l Law) requestArrived(e *exchange, got *received) error {
	target := e.target
	if _, rest, ok := strings.Cut(target, "://"); ok && target[0] != '/' {
		target = rest[strings.IndexByte(rest, '/'):]
	}
	if want := e.method + " " + target + " HTTP/1.1"; got.first != want {
		return fmt.Errorf("the origin gets %q, want %q", got.first, want)
	}
	sent := values(append(append([]field{}, e.request.fields...), e.request.mended()...))
	exceptions := l.Exceptions
	if l.HTTP2 {
		if cookies := sent["Cookie"]; len(cookies) > 1 {
			sent["Cookie"] = []string{strings.Join(cookies, "; ")} // RFC 9113, section 8.2.3
		}
		exceptions = append(append([]Exception{}, exceptions...), Exception{Request, "User-Agent", First, "the client sends one", nil})
	}
	if difference := compare(Request, exceptions, e.method, sent, values(got.fields)); difference != "" {
		return errors.New("the request: " + difference)
	}
	if e.early {
		return nil
	}
	if want := e.request.text(); !bytes.Equal(got.body, want) {
		return fmt.Errorf("the body of the request arrives as %.100q, want %.100q", got.body, want)
	}
	if difference := compare(Request, nil, e.method, values(e.request.trailers), values(got.trailers)); difference != "" {
		return errors.New("the trailers of the request: " + difference)
	}
	return nil
}

// answerArrived compares an answer with what arrived of it.
func (l Law) answerArrived(e *exchange, got *received) error {
	if got.status() != e.status {
		return fmt.Errorf("the status is %d, want %d", got.status(), e.status)
	}
	sent, fields := values(append(append([]field{}, e.answer.fields...), e.answer.mended()...)), values(got.fields)
	if difference := compare(Answer, l.Exceptions, e.method, sent, fields); difference != "" {
		return errors.New("the answer: " + difference)
	}
	if want := e.answer.text(); !bytes.Equal(got.body, want) {
		return fmt.Errorf("the body of the answer has %d bytes, %.100q, want %d, %.100q", len(got.body), got.body, len(want), want)
	}
	if e.version == "HTTP/1.1" && (l.Trailers == nil || l.Trailers(fields)) {
		if difference := compare(Answer, nil, e.method, values(e.answer.trailers), values(got.trailers)); difference != "" {
			return errors.New("the trailers of the answer: " + difference)
		}
	}
	var interim []field
	for _, m := range got.interim {
		if !strings.Contains(m.first, " 100") {
			interim = append(interim, m.fields...)
		}
	}
	if difference := compare(Answer, nil, e.method, values(e.interim), values(interim)); difference != "" {
		return errors.New("the interim answer: " + difference)
	}
	return nil
}

// mended returns the fields that the fault of a message becomes.
func (m *message) mended() []field {
	if m.fault == nil {
		return nil
	}
	return m.fault.mended
}

// text returns the body of a message; that of a fault that can be mended is "ab".
func (m *message) text() []byte {
	switch {
	case m.fault != nil && m.fault.body != "":
		return []byte("ab")
	case m.framing == none:
		return nil
	}
	return m.body
}

// summary returns the beginning of an answer.
func summary(m *received) string {
	if m == nil {
		return "nothing"
	}
	return fmt.Sprintf("%q with the body %.60q", m.first, m.body)
}

func quoted(values []string) string {
	if len(values) == 0 {
		return "nothing"
	}
	return fmt.Sprintf("%q", values)
}

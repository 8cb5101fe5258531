package hoptest

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Options describe the proxy and what it changes.
type Options struct {
	// Proxy starts the proxy in front of an origin until the test ends, and returns its address.
	Proxy func(t *testing.T, origin *url.URL) (addr string)
	// Request and Answer are what the proxy changes of requests and of answers.
	Request, Answer Exceptions
	// Exchanges is the number of exchanges, 3,000 if it is zero. The environment variable UMBEL_EXCHANGES replaces it: the long form has 100000.
	Exchanges int
	// Seed makes other exchanges.
	Seed uint64
}

// Result has what happened, for the counters of the proxy.
type Result struct {
	Exchanges     int
	Refused       int // malformed requests
	FailedOrigins int // malformed answers that became 502
	CutAnswers    int // answers that the client did not get as a whole
}

// workers is the number of connections to the proxy.
const workers = 4

// Run exchanges messages. What is another than the law permits is an error of the test.
func Run(t *testing.T, o Options) Result {
	t.Helper()
	if o.Exchanges == 0 {
		o.Exchanges = 3000
	}
	if text := os.Getenv("UMBEL_EXCHANGES"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		o.Exchanges = n
	}
	behind := newOrigin(t)
	addr := o.Proxy(t, behind.url)
	var total Result
	var mu sync.Mutex
	var running sync.WaitGroup
	for i := range workers {
		running.Go(func() {
			w := &worker{t: t, o: &o, addr: addr, origin: behind, g: generator{rand.New(rand.NewPCG(o.Seed, uint64(i)))}}
			defer w.hangUp()
			for n := 0; n < o.Exchanges/workers && !t.Failed(); n++ {
				w.exchange(fmt.Sprintf("%d-%d", i, n))
			}
			mu.Lock()
			defer mu.Unlock()
			total.Exchanges += w.result.Exchanges
			total.Refused += w.result.Refused
			total.FailedOrigins += w.result.FailedOrigins
			total.CutAnswers += w.result.CutAnswers
		})
	}
	running.Wait()
	behind.mu.Lock()
	defer behind.mu.Unlock()
	for _, line := range behind.stray[:min(len(behind.stray), 10)] {
		t.Errorf("the origin got what nobody sent: %q", line)
	}
	return total
}

// worker is a client with one connection at a time.
type worker struct {
	t      *testing.T
	o      *Options
	addr   string
	origin *origin
	g      generator
	result Result

	conn net.Conn // nil if there is none
	from *bufio.Reader
}

func (w *worker) hangUp() {
	if w.conn != nil {
		w.conn.Close()
		w.conn = nil
	}
}

// exchange makes one exchange.
func (w *worker) exchange(id string) {
	request := w.g.request(id)
	answer := w.g.answer(request.method)
	if request.early && answer.fault != none {
		request.early = false
	}
	s := &script{answer: answer, early: request.early, arrived: make(chan Message, 2)}
	w.origin.expect(id, s)
	defer w.origin.forget(id)
	w.result.Exchanges++
	got, err := w.send(request)
	failed := false
	fail := func(format string, arguments ...any) {
		if failed {
			return
		}
		failed = true
		w.t.Errorf("exchange %s: %s\nrequest: %.3000q\nanswer: %.3000q\narrives: %.3000q, %v", id, fmt.Sprintf(format, arguments...), request.raw, answer.raw, fmt.Sprint(got), err)
	}
	if request.fault != none {
		w.result.Refused++
		if status := got.Status(); err == nil && (status < 400 || status > 499 && status != 501 && status != 505) {
			fail("a malformed request is answered with %d", status)
		}
		w.hangUp()
		select {
		case m := <-s.arrived:
			if m.Whole && (len(m.Body) > 0 || m.Get("Content-Length") != "" || m.Get("Transfer-Encoding") != "" || request.fault == inHead) {
				fail("a malformed request arrives as a whole: %q", fmt.Sprint(m))
			}
		default:
		}
		return
	}
	empty := request.method == "HEAD" || answer.want.Status() == 204 || answer.want.Status() == 304
	switch {
	case answer.fault == inHead && (err != nil || got.Status() != 502):
		fail("a malformed answer does not become 502")
	case answer.fault == inHead:
		w.result.FailedOrigins++
	case answer.fault != none && err == nil && got.Whole && got.Status() != 502:
		fail("an answer that is not whole arrives as one")
	case answer.fault != none && err == nil:
		w.result.FailedOrigins++
	case answer.fault != none:
		w.result.CutAnswers++
	case err != nil:
		fail("no answer")
	default:
		for _, d := range compareAnswer(answer.want, got, w.o.Answer, empty) {
			fail("of the answer, %s", d)
		}
	}
	if err != nil || ends(got) {
		w.hangUp()
	}
	if request.early {
		return // the rest of the body need not arrive
	}
	select {
	case m := <-s.arrived:
		for _, d := range compareRequest(request.want, m, w.o.Request) {
			fail("of the request, %s", d)
		}
	case <-time.After(patience):
		fail("the request does not arrive")
	}
}

// send sends a request and returns the answer.
func (w *worker) send(s sent) (Message, error) {
	if w.conn != nil && (s.fault != none || w.g.one(20)) {
		w.hangUp()
	}
	if w.conn == nil {
		c, err := net.Dial("tcp", w.addr)
		if err != nil {
			w.t.Fatal(err)
		}
		w.conn, w.from = c, bufio.NewReader(c)
	}
	c := w.conn
	_ = c.SetDeadline(time.Now().Add(patience))
	sending := make(chan struct{})
	go func() {
		defer close(sending)
		_, _ = io.WriteString(c, s.raw)
		if s.closes {
			_ = c.(*net.TCPConn).CloseWrite()
		}
	}()
	m, err := readAnswer(w.from, s.method)
	if err != nil || ends(m) {
		_ = c.SetWriteDeadline(time.Now()) // nobody reads the rest
	}
	<-sending
	return m, err
}

// ends reports whether the connection ends with an answer.
func ends(m Message) bool { return strings.EqualFold(m.Get("Connection"), "close") }

// Package origin is the server behind the cache that is tested. It answers what a test prescribes and
// records what arrives.
//
// It writes HTTP/1.1 itself instead of using net/http: tests prescribe reason phrases, connections that
// close without a response, and lengths that don't match the body, none of which net/http sends.
package origin

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/umbel-filters/umbel/research/cachetests/internal/suite"
)

// Prefix is the start of the path of a test's URL. The token follows.
const Prefix = "/test/"

// The fields that each response of the origin has. The client recognizes by them which response it
// received.
const (
	FieldCount   = "Server-Request-Count" // the number of requests of this test that arrived, from 1
	FieldNumbers = "Request-Numbers"      // FieldNumber of each of them
	fieldClient  = "Client-Request-Count" // FieldNumber of this request, to which some tests refer
	FieldNow     = "Server-Now"           // the time of the response in milliseconds since 1970
	FieldBase    = "Server-Base-Url"      // the request's path
	FieldNumber  = "Req-Num"              // of a request: its number in the test, from 1
)

// Seen is a request that arrived, and the fields of the response that the client should receive
// unchanged.
type Seen struct {
	Number int // the client's number of the request, from 1
	Method string
	Header http.Header
	Sent   []Pair
}

// Pair is the name and the value of a field. Values of a repeated field are joined by ", ".
type Pair struct{ Name, Value string }

// Server is an origin. Its methods are safe for concurrent use.
type Server struct {
	listener net.Listener
	ctx      context.Context // ends pauses
	cancel   context.CancelFunc
	done     sync.WaitGroup

	mu    sync.Mutex
	runs  map[string]*run // by token
	conns map[net.Conn]bool
}

// run is one execution of a test. Server.mu guards it.
type run struct {
	test *suite.Test
	seen []Seen
	sent map[int][]suite.Field // by number of the request: the response's fields, resolved
}

// Listen starts a server on an address such as 127.0.0.1:0.
func Listen(address string) (*Server, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	s := &Server{listener: l, runs: map[string]*run{}, conns: map[net.Conn]bool{}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.done.Go(s.accept)
	return s, nil
}

// Addr returns the address as host:port.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Close stops the server, closes its connections and waits for its goroutines.
func (s *Server) Close() error {
	s.cancel()
	err := s.listener.Close()
	s.mu.Lock()
	for c := range s.conns {
		c.Close()
	}
	s.mu.Unlock()
	s.done.Wait()
	return err
}

// Add makes the server answer requests with this token as t prescribes.
func (s *Server) Add(token string, t *suite.Test) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs[token] = &run{test: t, sent: map[int][]suite.Field{}}
}

// Remove makes the server refuse further requests with this token. It returns those that arrived, in order.
func (s *Server) Remove(token string) []Seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.runs[token]
	delete(s.runs, token)
	if r == nil {
		return nil
	}
	return r.seen
}

func (s *Server) accept() {
	for {
		c, err := s.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // too many open files, or a client that is gone: the next one may work
			select {
			case <-s.ctx.Done():
				return
			case <-time.After(10 * time.Millisecond):
			}
			continue
		}
		s.mu.Lock()
		if s.ctx.Err() != nil {
			c.Close()
		} else {
			s.conns[c] = true
			s.done.Go(func() { s.serve(c) })
		}
		s.mu.Unlock()
	}
}

// Limits for a request. The largest of the tests have less than 1 kB.
const (
	maxHead = 64 << 10
	maxBody = 1 << 20
)

// serve answers the requests of a connection until one of them ends it.
func (s *Server) serve(c net.Conn) {
	defer func() {
		c.Close()
		s.mu.Lock()
		delete(s.conns, c)
		s.mu.Unlock()
	}()
	limit := &io.LimitedReader{R: c}
	in := bufio.NewReader(limit)
	for {
		limit.N = maxHead
		request, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		limit.N = maxBody
		if _, err := io.Copy(io.Discard, request.Body); err != nil {
			return
		}
		response := s.respond(request)
		if response == nil {
			return
		}
		if _, err := c.Write(response.bytes()); err != nil || response.close {
			return
		}
	}
}

// respond returns the response to a request, nil to close the connection without one.
func (s *Server) respond(request *http.Request) *response {
	path, below := strings.CutPrefix(request.URL.Path, Prefix)
	token, _, _ := strings.Cut(path, "/")
	s.mu.Lock()
	r, number := s.runs[token], 0
	if r != nil {
		number = r.number(request)
	}
	s.mu.Unlock()
	if r == nil || !below {
		return problem(404, "no test that runs has this path")
	}
	if number < 1 || number > len(r.test.Requests) {
		return problem(409, "the test "+r.test.ID+" has no request of this number")
	}
	if pause := r.test.Requests[number-1].PauseSeconds; pause > 0 {
		select {
		case <-s.ctx.Done():
			return nil
		case <-time.After(time.Duration(pause) * time.Second):
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return r.answer(request, token, number, time.Now())
}

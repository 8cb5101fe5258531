package hoptest

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"
)

// idName is the field of a request by which the origin finds its answer.
const idName = "X-Exchange"

// patience bounds each exchange.
const patience = 30 * time.Second

// origin answers requests as they are scripted, and keeps what arrives.
type origin struct {
	url *url.URL

	mu      sync.Mutex
	scripts map[string]*script
	stray   []string // what arrives and has no script
}

// script is one exchange.
type script struct {
	answer  sent
	early   bool
	arrived chan Message // gets the request, whole or not
}

// newOrigin returns a running origin.
func newOrigin(t *testing.T) *origin {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o := &origin{url: &url.URL{Scheme: "http", Host: l.Addr().String()}, scripts: map[string]*script{}}
	var running sync.WaitGroup
	var open sync.Map
	running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			open.Store(c, nil)
			running.Go(func() {
				o.serve(c)
				c.Close()
				open.Delete(c)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		open.Range(func(c, _ any) bool { c.(net.Conn).Close(); return true })
		running.Wait()
	})
	return o
}

// expect scripts an exchange.
func (o *origin) expect(id string, s *script) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.scripts[id] = s
}

// forget ends an exchange.
func (o *origin) forget(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.scripts[id] = nil // a request that the client broke off may arrive late
}

// find returns the script for a request, and notes requests that have none.
func (o *origin) find(m Message) *script {
	o.mu.Lock()
	defer o.mu.Unlock()
	s, ok := o.scripts[m.Get(idName)]
	if !ok {
		o.stray = append(o.stray, m.Line)
	}
	return s
}

// serve serves a connection.
func (o *origin) serve(c net.Conn) {
	r := bufio.NewReader(c)
	for {
		m, err := readHead(r)
		if errors.Is(err, errMalformed) {
			o.mu.Lock()
			o.stray = append(o.stray, err.Error())
			o.mu.Unlock()
		}
		if err != nil {
			return
		}
		s := o.find(m)
		if s == nil {
			return
		}
		if s.early {
			_, err = io.WriteString(c, s.answer.raw)
		}
		bad := m.readBody(r, false)
		select {
		case s.arrived <- m:
		default: // it was sent again and again
		}
		if bad != nil || err != nil {
			return
		}
		if !s.early {
			_, err = io.WriteString(c, s.answer.raw)
		}
		if err != nil || s.answer.closes {
			return
		}
	}
}

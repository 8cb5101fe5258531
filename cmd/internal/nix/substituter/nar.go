package substituter

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/umbel-filters/umbel/internal/hop"
	"github.com/umbel-filters/umbel/internal/httptarget"
	"github.com/umbel-filters/umbel/internal/pace"
)

// maxPlaces is the number of NARs whose upstreams are kept, at least and at most twice.
const maxPlaces = 1 << 15

// places are the upstreams whose narinfos named a NAR. The zero value is empty. If the newer half is full, the older
// half is dropped. It is safe for concurrent use.
type places struct {
	mu           sync.Mutex
	newer, older map[string]*upstream
}

func (p *places) put(nar string, u *upstream) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.newer == nil || len(p.newer) >= maxPlaces {
		p.older, p.newer = p.newer, make(map[string]*upstream)
	}
	p.newer[nar] = u
}

func (p *places) get(nar string) *upstream {
	p.mu.Lock()
	defer p.mu.Unlock()
	if u := p.newer[nar]; u != nil {
		return u
	}
	return p.older[nar]
}

// nar replies with a NAR, byte for byte: from the upstream whose narinfo named it or, after a restart, from the first
// that has it. Ranges pass through, and the target of the request does.
func (s *Server) nar(w http.ResponseWriter, r *http.Request, path string) {
	target, err := httptarget.Received(r)
	if err != nil || !isNAR(path) {
		refuse(w, http.StatusNotFound)
		return
	}
	if !s.enter(w, r) {
		return
	}
	defer s.leave()
	header := http.Header{}
	for _, name := range []string{"Range", "If-Range"} {
		if v := r.Header.Values(name); len(v) > 0 {
			header[name] = v
		}
	}
	unreachable := false
	for _, u := range s.order(s.places.get((&url.URL{Path: path, RawQuery: r.URL.RawQuery}).String())) {
		switch err := s.transfer(w, r, u, target, header); {
		case err == nil, r.Context().Err() != nil:
			return
		case !errors.Is(err, errAbsent):
			unreachable = unreachable || !u.Sibling
		}
	}
	if unreachable {
		refuse(w, http.StatusServiceUnavailable)
		return
	}
	refuse(w, http.StatusNotFound)
}

// order returns the upstreams with the given one first, unless that is nil. Those whose last NAR broke off come last.
func (s *Server) order(first *upstream) []*upstream {
	now := time.Now()
	rank := func(u *upstream) int {
		switch {
		case u.bodies.suspended(now):
			return 2
		case u == first:
			return 0
		}
		return 1
	}
	list := slices.Clone(s.upstreams)
	slices.SortStableFunc(list, func(a, b *upstream) int { return rank(a) - rank(b) })
	return list
}

// transfer passes the reply of an upstream on. If it returns an error, nothing was sent. If the transfer ends early, it
// aborts the connection, so that the client cannot take the part for the whole.
func (s *Server) transfer(w http.ResponseWriter, r *http.Request, u *upstream, target string, header http.Header) error {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	stop := func() { cancel(errStalled) }
	late := time.AfterFunc(max(s.o.Stall, s.o.Timeout), stop)
	defer late.Stop()
	began := time.Now()
	reply, err := u.request(ctx, r.Method, target, header)
	if err != nil {
		return err
	}
	late.Stop()
	defer reply.Body.Close()
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	body := pace.NewReader(reply.Body, s.o.Stall, max(int(s.o.Stall.Seconds()*leastRate), 1), stop)
	n, err := begin(body, *buffer)
	if err != nil && err != io.EOF {
		return u.cut(ctx, began, err)
	}
	for name, values := range reply.Header {
		w.Header()[name] = values
	}
	hop.Announce(w.Header(), reply)
	hop.Keep(w.Header(), reply.StatusCode)
	w.WriteHeader(reply.StatusCode)
	s.counters.nars.Add(1)
	if r.Method == http.MethodHead {
		return nil
	}
	out := &deadlineWriter{w: w, rc: http.NewResponseController(w), stall: s.o.Stall, written: &s.counters.narBytes}
	for {
		if _, err := out.Write((*buffer)[:n]); err != nil {
			panic(http.ErrAbortHandler)
		}
		if err != nil {
			break
		}
		n, err = body.Read(*buffer)
	}
	if err != io.EOF {
		_ = u.cut(ctx, began, err)
		panic(http.ErrAbortHandler)
	}
	u.whole(began)
	hop.SendTrailers(w, reply)
	return nil
}

// leastRate is the least rate of a NAR in bytes per second, on average over the time of a stall.
const leastRate = 1 << 10

// beginning is the time for which the beginning of a NAR is awaited before it is passed on.
const beginning = time.Second

// begin fills the buffer with the beginning of a body, as far as it arrives in time: until something is passed on, another upstream
// can reply instead.
func begin(body io.Reader, buffer []byte) (n int, err error) {
	for end := time.Now().Add(beginning); err == nil && n < len(buffer) && (n == 0 || time.Now().Before(end)); {
		var m int
		m, err = body.Read(buffer[n:])
		n += m
	}
	return n, err
}

var errStalled = errors.New("no byte has arrived in time")

var buffers = sync.Pool{New: func() any { b := make([]byte, 64<<10); return &b }}

// deadlineWriter is a writer to a client that must take each piece within a time.
type deadlineWriter struct {
	w       io.Writer
	rc      *http.ResponseController
	stall   time.Duration
	written interface{ Add(uint64) uint64 }
}

func (d *deadlineWriter) Write(b []byte) (int, error) {
	_ = d.rc.SetWriteDeadline(time.Now().Add(d.stall)) // not supported by recorders of tests
	n, err := d.w.Write(b)
	d.written.Add(uint64(n))
	return n, err
}

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
// that has it. Ranges pass through.
func (s *Server) nar(w http.ResponseWriter, r *http.Request, path string) {
	if !isNAR(path) {
		refuse(w, http.StatusNotFound)
		return
	}
	if !s.enter(w, r) {
		return
	}
	defer s.leave()
	file := &url.URL{Path: path, RawQuery: r.URL.RawQuery}
	header := http.Header{}
	for _, name := range []string{"Range", "If-Range"} {
		if v := r.Header.Values(name); len(v) > 0 {
			header[name] = v
		}
	}
	unreachable := false
	for _, u := range s.order(s.places.get(file.String())) {
		switch err := s.transfer(w, r, u, file, header); {
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

// order returns the upstreams with the given one first, unless that is nil.
func (s *Server) order(first *upstream) []*upstream {
	if first == nil {
		return s.upstreams
	}
	others := slices.DeleteFunc(slices.Clone(s.upstreams), func(u *upstream) bool { return u == first })
	return append([]*upstream{first}, others...)
}

// passed are the headers of a reply that pass through.
var passed = []string{"Content-Type", "Content-Length", "Content-Range", "Content-Encoding", "Accept-Ranges", "Etag", "Last-Modified"}

// transfer passes the reply of an upstream on. If it returns an error, nothing was sent. If the transfer ends early, it
// aborts the connection, so that the client cannot take the part for the whole.
func (s *Server) transfer(w http.ResponseWriter, r *http.Request, u *upstream, file *url.URL, header http.Header) error {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	stalled := time.AfterFunc(max(s.o.Stall, s.o.Timeout), func() { cancel(errStalled) })
	defer stalled.Stop()
	reply, err := u.request(ctx, r.Method, file, header)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	for _, name := range passed {
		if v := reply.Header.Values(name); len(v) > 0 {
			w.Header()[name] = v
		}
	}
	w.WriteHeader(reply.StatusCode)
	s.counters.nars.Add(1)
	if r.Method == http.MethodHead {
		return nil
	}
	out := &deadlineWriter{w: w, rc: http.NewResponseController(w), stall: s.o.Stall, written: &s.counters.narBytes}
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	if _, err := io.CopyBuffer(out, &progress{reply.Body, stalled, s.o.Stall}, *buffer); err != nil {
		panic(http.ErrAbortHandler)
	}
	return nil
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

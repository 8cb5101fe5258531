package squidpeer

import (
	"net/http"
	"strconv"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/service/status"
)

// Handler serves:
//
//	/NAME/store_digest    the digest of a peer, 404 while there is none
//	/NAME/publication/…   its publication
//	/squid-internal-periodic/store_digest    the digest of the only peer
//	/                     the status of all peers; see [status.Handle] for other forms
func (r *Relay) Handler() http.Handler {
	mux := http.NewServeMux()
	for _, p := range r.peers {
		mux.HandleFunc("GET /"+p.Name+"/store_digest", p.serve)
		if h := p.Publication.Handler(); h != nil {
			prefix := "/" + p.Name + "/publication"
			mux.Handle(prefix+"/", http.StripPrefix(prefix, h))
		}
	}
	if len(r.peers) == 1 {
		mux.HandleFunc("GET "+Path, r.peers[0].serve)
	}
	report := func() status.Report { return r.Status() }
	status.Handle(mux, report)
	mux.Handle("GET /{$}", status.Page(report))
	return mux
}

// serve serves the digest of a peer as a Squid serves its own.
func (p *peer) serve(w http.ResponseWriter, _ *http.Request) {
	s := p.digest(late)
	if s == nil {
		http.Error(w, "no digest of "+p.Name, http.StatusNotFound)
		return
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(DefaultTimeout))
	h := w.Header()
	h.Set("Content-Type", ContentType)
	h.Set("Content-Length", strconv.Itoa(len(s.body)))
	h.Set("Last-Modified", s.modified.UTC().Format(http.TimeFormat))
	h.Set("Expires", s.expires.UTC().Format(http.TimeFormat))
	_, _ = w.Write(s.body)
}

package squidpeer

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// Handler serves:
//
//	/NAME/store_digest    the digest of a peer, 404 while there is none
//	/NAME/publication/…   its publication
//	/squid-internal-periodic/store_digest    the digest of the only peer
//	/, /status.json       the status of all peers
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
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_ = writeStatus(w, r.Status())
	})
	mux.HandleFunc("GET /status.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(r.Status())
	})
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

// Package status shows the state of a server: one [Report] as text, as JSON, and as metrics for Prometheus.
package status

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"
)

// Report is the state of a server at one time. Its JSON is that of package encoding/json.
type Report interface {
	// Write writes the state as text for people.
	Write(io.Writer) error
	// Metrics returns the numbers of the state.
	Metrics() []Metric
}

// pageTime is the time for a client to take a status page.
const pageTime = 10 * time.Second

// Handle adds the status of a server to mux: /status and /status.json, and /metrics for Prometheus. /status is text, or JSON if the
// client accepts it or the query is format=json.
func Handle(mux *http.ServeMux, report func() Report) {
	page := Page(report)
	mux.Handle("GET /status", page)
	mux.HandleFunc("GET /status.json", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, report()) })
	mux.Handle("GET /metrics", Exposition(func() []Metric { return report().Metrics() }))
}

// Only returns the handler of a server that has only a status, which is at / as well.
func Only(report func() Report) http.Handler {
	mux := http.NewServeMux()
	Handle(mux, report)
	mux.Handle("GET /{$}", Page(report))
	return mux
}

// Page returns the handler of /status.
func Page(report func() Report) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.Header.Get("Accept"), "application/json") || r.URL.Query().Get("format") == "json" {
			writeJSON(w, report())
			return
		}
		begin(w, "text/plain; charset=utf-8")
		_ = report().Write(w) // the client has gone
	})
}

func writeJSON(w http.ResponseWriter, report Report) {
	begin(w, "application/json")
	_ = json.NewEncoder(w).Encode(report) // the client has gone
}

// begin sets the fields of an answer.
func begin(w http.ResponseWriter, form string) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(pageTime)) // not supported by recorders of tests
	w.Header().Set("Content-Type", form)
	w.Header().Set("Cache-Control", "no-store")
}

package sidecar

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/cli/table"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/siblings"
)

// statusPage serves what the sidecar did: as text, and as JSON at /status.json or if the client accepts it.
func statusPage(m *siblings.Mesh) http.Handler {
	mux := http.NewServeMux()
	asJSON := func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(m.Status())
	}
	mux.HandleFunc("GET /status.json", func(w http.ResponseWriter, _ *http.Request) { asJSON(w) })
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.Header.Get("Accept"), "application/json") {
			asJSON(w)
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_ = WriteStatus(w, m.Status(), time.Now())
	})
	return mux
}

// OutageText describes in one line that the origin can't be reached, and what to do.
func OutageText(o siblings.Outage) string {
	return "unreachable since " + o.Since.UTC().Format(time.RFC3339) + ": " + o.Error + "; check --origin"
}

// WriteStatus writes what a mesh did as text, with two tables.
func WriteStatus(w io.Writer, s siblings.Status, now time.Time) error {
	count := func(n uint64) string { return quantity.Count(n).String() }
	t := table.New("", "")
	t.Row("name", s.Name)
	t.Row("held", fmt.Sprintf("%s responses, version %s of the publication, signed %v ago", count(uint64(s.Held)), count(s.Version), now.Sub(s.Signed).Round(time.Second)))
	t.Row("requests", fmt.Sprintf("%s: %s from siblings, %s from the origin, %s of siblings in vain", count(s.Requests), count(s.Hits), count(s.Origin), count(s.Hops)))
	t.Row("evicted", count(s.Evicted)+" responses that were thought to be held")
	if s.Errors > 0 {
		t.Row("errors", count(s.Errors)+" requests for which the origin could not be reached")
	}
	if s.Outage != nil {
		t.Row("origin", OutageText(*s.Outage))
	}
	if s.Forbidden > 0 {
		t.Row("forbidden", count(s.Forbidden)+" requests without the token")
	}
	if _, err := t.WriteTo(w); err != nil {
		return err
	}
	fmt.Fprintln(w)
	peers := table.New("Peer", " Zone", " Hits", " Absent", " Refused", " Failed", " Round trip", "Problem")
	for _, p := range s.Peers {
		problem := p.Problem
		if p.Retry != nil {
			if wait := p.Retry.Sub(now).Round(time.Second); wait > 0 {
				problem += fmt.Sprintf("; next attempt in %v", wait)
			} else {
				problem += "; the next request for what it may hold tries it"
			}
		}
		if p.Lost != nil {
			problem = strings.TrimPrefix(fmt.Sprintf("%s; no contact for %v", problem, now.Sub(*p.Lost).Round(time.Second)), "; ")
		}
		trip := time.Duration(p.RoundTripSeconds * float64(time.Second)).Round(10 * time.Microsecond)
		peers.Row(p.Name, fmt.Sprint(p.Zone), count(p.Hits), count(p.Absent), count(p.Refused), count(p.Failed), trip.String(), problem)
	}
	_, err := peers.WriteTo(w)
	return err
}

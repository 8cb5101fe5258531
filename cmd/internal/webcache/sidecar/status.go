package sidecar

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/cli/table"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/service/status"
	"github.com/umbel-filters/umbel/siblings"
)

// Report is what a mesh did.
type Report struct{ siblings.Status }

// statusPage serves what the sidecar did.
func statusPage(m *siblings.Mesh) http.Handler {
	return status.Only(func() status.Report { return Report{m.Status()} })
}

// Metrics returns the report for Prometheus.
func (r Report) Metrics() []status.Metric {
	all := []status.Metric{
		status.Counter("umbel_siblings_requests_total", "Requests that reached the sidecar.", r.Requests),
		status.Counter("umbel_siblings_hits_total", "Requests that siblings answered.", r.Hits),
		status.Counter("umbel_siblings_origin_total", "Requests that went to the origin.", r.Origin),
		status.Counter("umbel_siblings_vain_total", "Requests of siblings that the cache could not answer.", r.Hops),
		status.Counter("umbel_siblings_evicted_total", "Responses that were thought to be held and were not.", r.Evicted),
		status.Counter("umbel_siblings_errors_total", "Requests for which the origin could not be reached.", r.Errors),
		status.Counter("umbel_siblings_forbidden_total", "Requests for the publication without the token.", r.Forbidden),
		status.Gauge("umbel_siblings_published", "Responses and variants that are published.", r.Held),
		status.If("umbel_siblings_origin_unreachable", "1 while the origin cannot be reached.", r.Outage != nil),
	}
	for _, p := range r.Peers {
		for result, n := range map[string]uint64{"hit": p.Hits, "absent": p.Absent, "refused": p.Refused, "failed": p.Failed} {
			all = append(all, status.Counter("umbel_siblings_peer_requests_total",
				"Requests to a peer by the way they were answered.", n, "peer", p.Name, "result", result))
		}
	}
	return all
}

// OutageText describes in one line that the origin can't be reached, and what to do.
func OutageText(o siblings.Outage) string {
	return "unreachable since " + o.Since.UTC().Format(time.RFC3339) + ": " + o.Error + "; check --origin"
}

// Write writes the report as text, with two tables.
func (r Report) Write(w io.Writer) error {
	s, now := r.Status, time.Now()
	count := func(n uint64) string { return quantity.Count(n).String() }
	t := table.New("", "")
	t.Row("name", s.Name)
	t.Row("held", fmt.Sprintf("%s responses, version %s of the publication, signed %v ago", count(uint64(s.Held)),
		count(s.Version), now.Sub(s.Signed).Round(time.Second)))
	t.Row("requests", fmt.Sprintf("%s: %s from siblings, %s from the origin, %s of siblings in vain", count(s.Requests),
		count(s.Hits), count(s.Origin), count(s.Hops)))
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

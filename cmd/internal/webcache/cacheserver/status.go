package cacheserver

import (
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/cli/table"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/report"
	"github.com/umbel-filters/umbel/cmd/internal/service/status"
	"github.com/umbel-filters/umbel/cmd/internal/webcache/sidecar"
	"github.com/umbel-filters/umbel/siblings"
)

// Report is the state of a cache, as the status page and --json have it.
type Report struct {
	Listen  string  `json:"listen"`
	Origin  string  `json:"origin,omitempty"`
	Store   string  `json:"store"` // "memory", or the directory
	Seconds float64 `json:"seconds"`
	Keys    int     `json:"keys"`
	Bytes   int64   `json:"bytes"`
	Limit   int64   `json:"limit"`

	Hits        uint64 `json:"hits"`
	Validated   uint64 `json:"validated"`
	Stale       uint64 `json:"stale"`
	Misses      uint64 `json:"misses"`
	Collapsed   uint64 `json:"collapsed"`
	Passed      uint64 `json:"passed"`
	Abandoned   uint64 `json:"abandoned"`
	Errors      uint64 `json:"errors"`
	Stored      uint64 `json:"stored"`
	Evicted     uint64 `json:"evicted"`
	Invalidated uint64 `json:"invalidated"`
	Incomplete  uint64 `json:"incomplete"`
	Unwritten   uint64 `json:"unwritten"`

	Outage   *siblings.Outage `json:"originUnreachable,omitempty"` // of Origin
	Siblings *siblings.Status `json:"siblings,omitempty"`
}

// Report returns the state of the cache.
func (s *Server) Report() Report {
	n, c := s.Cache.Stats(), s.config
	r := Report{
		Listen: s.Addr().String(), Store: "memory", Limit: c.Memory, Seconds: time.Since(s.begun).Seconds(), Keys: s.Cache.Keys(), Bytes: s.Cache.Bytes(),
		Hits: n.Hits.Load(), Validated: n.Validated.Load(), Stale: n.Stale.Load(), Misses: n.Misses.Load(), Collapsed: n.Collapsed.Load(),
		Passed: n.Passed.Load(), Abandoned: n.Abandoned.Load(), Errors: n.Errors.Load(), Stored: n.Stored.Load(),
		Evicted: n.Evicted.Load(), Invalidated: n.Invalidated.Load(),
		Incomplete: n.Incomplete.Load(), Unwritten: n.Unwritten.Load(),
	}
	if c.Origin != nil {
		r.Origin = c.Origin.String()
	}
	if since, err := s.Cache.Unreachable(); err != nil {
		r.Outage = &siblings.Outage{Since: since.UTC(), Error: report.Text(err)}
	}
	if c.Disk != "" {
		r.Store, r.Limit = c.Disk, c.DiskSize
	}
	if s.member != nil {
		r.Siblings = new(s.member.Status())
	}
	return r
}

// Write writes the report as a table.
func (r Report) Write(w io.Writer) error {
	t := table.New("", " ")
	t.Row("running", time.Duration(r.Seconds*float64(time.Second)).Round(time.Second).String())
	t.Row("store", fmt.Sprintf("%s, %v of %v", r.Store, quantity.Size(r.Bytes), quantity.Size(r.Limit)))
	if r.Outage != nil {
		t.Row("origin", sidecar.OutageText(*r.Outage))
	}
	t.Row("keys", quantity.Count(r.Keys).String())
	for _, row := range r.counters() {
		t.Row(row.name, quantity.Count(row.count).String())
	}
	_, err := t.WriteTo(w)
	if err == nil && r.Siblings != nil {
		_, _ = io.WriteString(w, "\n")
		err = sidecar.Report{Status: *r.Siblings}.Write(w)
	}
	return err
}

// counter is a number of the report, as text and as a metric.
type counter struct {
	name, metric string // without help, metric is a result of requests
	help         string
	count        uint64
}

// counters returns the numbers of a report that only grow.
func (r Report) counters() []counter {
	return []counter{
		{"hits", "hit", "", r.Hits}, {"validated", "validated", "", r.Validated}, {"stale", "stale", "", r.Stale}, {"misses", "miss", "", r.Misses},
		{"collapsed", "collapsed", "", r.Collapsed}, {"passed", "passed", "", r.Passed},
		{"abandoned", "abandoned", "", r.Abandoned}, {"errors", "error", "", r.Errors},
		{"stored", "umbel_cache_stored_total", "Responses that were stored.", r.Stored},
		{"evicted", "umbel_cache_evicted_total", "Keys that were removed because the store was full.", r.Evicted},
		{"invalidated", "umbel_cache_invalidated_total", "Keys that were removed because of an unsafe request.", r.Invalidated},
		{"incomplete", "umbel_cache_incomplete_total", "Bodies that could not be stored completely.", r.Incomplete},
		{"unwritten", "umbel_cache_unwritten_total", "Writes of the store that failed, for example because the disk is full.", r.Unwritten},
	}
}

// Metrics returns the report for Prometheus.
func (r Report) Metrics() []status.Metric {
	var all []status.Metric
	for _, c := range r.counters() {
		if c.help == "" {
			all = append(all, status.Counter("umbel_cache_requests_total", "Requests by the way they were answered.", c.count, "result", c.metric))
		} else {
			all = append(all, status.Counter(c.metric, c.help, c.count))
		}
	}
	all = append(all,
		status.Gauge("umbel_cache_keys", "Keys with stored responses.", r.Keys),
		status.Gauge("umbel_cache_bytes", "Bytes of the store.", r.Bytes),
		status.If("umbel_cache_origin_unreachable", "1 while the origin cannot be reached; 0 for a forward proxy.", r.Outage != nil))
	if m := r.Siblings; m != nil {
		all = append(all,
			status.Counter("umbel_cache_sibling_hits_total", "Misses that siblings answered.", m.Hits),
			status.Gauge("umbel_cache_published", "Responses and variants that are published.", m.Held))
	}
	return all
}

// statusPage serves the report.
func (s *Server) statusPage() http.Handler {
	return status.Only(func() status.Report { return s.Report() })
}

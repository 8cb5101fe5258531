package cacheserver

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/umbel-filters/umbel/cmd/internal/cli/table"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/report/message"
	"github.com/umbel-filters/umbel/cmd/internal/webcache/httpcache"
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
		Passed: n.Passed.Load(), Abandoned: n.Abandoned.Load(), Errors: n.Errors.Load(), Stored: n.Stored.Load(), Evicted: n.Evicted.Load(), Invalidated: n.Invalidated.Load(),
		Incomplete: n.Incomplete.Load(), Unwritten: n.Unwritten.Load(),
	}
	if c.Origin != nil {
		r.Origin = c.Origin.String()
	}
	if since, err := s.Cache.Unreachable(); err != nil {
		r.Outage = &siblings.Outage{Since: since.UTC(), Error: message.Of(err)}
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
	for _, row := range []struct {
		name  string
		count uint64
	}{
		{"hits", r.Hits}, {"validated", r.Validated}, {"stale", r.Stale}, {"misses", r.Misses}, {"collapsed", r.Collapsed}, {"passed", r.Passed},
		{"abandoned", r.Abandoned}, {"errors", r.Errors}, {"stored", r.Stored}, {"evicted", r.Evicted}, {"invalidated", r.Invalidated}, {"incomplete", r.Incomplete}, {"unwritten", r.Unwritten},
	} {
		t.Row(row.name, quantity.Count(row.count).String())
	}
	_, err := t.WriteTo(w)
	if err == nil && r.Siblings != nil {
		_, _ = io.WriteString(w, "\n")
		err = sidecar.WriteStatus(w, *r.Siblings, time.Now())
	}
	return err
}

// statusPage serves the report as text, as JSON, and for Prometheus.
func (s *Server) statusPage() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_ = s.Report().Write(w)
	})
	mux.HandleFunc("GET /status.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(s.Report())
	})
	mux.Handle("GET /metrics", promhttp.HandlerFor(metrics(s.Cache, s.member), promhttp.HandlerOpts{}))
	return mux
}

// metrics returns the counters of a cache for Prometheus. m may be nil.
func metrics(c *httpcache.Cache, m *member) *prometheus.Registry {
	n, registry := c.Stats(), prometheus.NewRegistry()
	counter := func(name, help string, labels prometheus.Labels, load func() uint64) {
		registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help, ConstLabels: labels}, func() float64 { return float64(load()) }))
	}
	for result, load := range map[string]func() uint64{
		"hit": n.Hits.Load, "validated": n.Validated.Load, "stale": n.Stale.Load, "miss": n.Misses.Load, "collapsed": n.Collapsed.Load,
		"passed": n.Passed.Load, "abandoned": n.Abandoned.Load, "error": n.Errors.Load,
	} {
		counter("umbel_cache_requests_total", "Requests by the way they were answered.", prometheus.Labels{"result": result}, load)
	}
	counter("umbel_cache_stored_total", "Responses that were stored.", nil, n.Stored.Load)
	counter("umbel_cache_evicted_total", "Keys that were removed because the store was full.", nil, n.Evicted.Load)
	counter("umbel_cache_invalidated_total", "Keys that were removed because of an unsafe request.", nil, n.Invalidated.Load)
	counter("umbel_cache_incomplete_total", "Bodies that could not be stored completely.", nil, n.Incomplete.Load)
	counter("umbel_cache_unwritten_total", "Writes of the store that failed, for example because the disk is full.", nil, n.Unwritten.Load)
	gauge := func(name, help string, load func() float64) {
		registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, load))
	}
	gauge("umbel_cache_keys", "Keys with stored responses.", func() float64 { return float64(c.Keys()) })
	gauge("umbel_cache_bytes", "Bytes of the store.", func() float64 { return float64(c.Bytes()) })
	gauge("umbel_cache_origin_unreachable", "1 while the origin cannot be reached; 0 for a forward proxy.", func() float64 {
		if _, err := c.Unreachable(); err != nil {
			return 1
		}
		return 0
	})
	if m != nil {
		counter("umbel_cache_sibling_hits_total", "Misses that siblings answered.", nil, func() uint64 { return m.Status().Hits })
		gauge("umbel_cache_published", "Responses and variants that are published.", func() float64 { return float64(m.Held().Len()) })
	}
	return registry
}

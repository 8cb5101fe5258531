// Package metrics exports the metrics of a node to Prometheus. Filters are measured in the background: a
// scrape reads no filter.
package metrics

import (
	"net/http"
	"runtime"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/umbel-filters/umbel/cmd/internal/durable/store"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
	"github.com/umbel-filters/umbel/cmd/internal/service"
	"github.com/umbel-filters/umbel/cmd/internal/service/status"
)

// Options configure the metrics.
type Options struct {
	Engine  *engine.Engine
	Status  func() store.Status
	Clients func() int    // number of RESP connections
	Totals  func() Totals // since the start
	// Publications returns the states of the publications.
	Publications func() []api.Publication
	// Subscriptions returns the states of the publications that a replica follows.
	Subscriptions func() []api.Subscription
	// Usage calls each with the commands that clients called: see resp.Server.Usage.
	Usage   func(each func(*resp.Command, resp.Usage))
	Disk    *Latencies
	Filters int           // number of largest filters with their own series
	Every   time.Duration // interval between surveys
	Version string
}

// Totals are totals of all clients since the start.
type Totals struct {
	Connections, Rejected, Errors, Read, Written uint64 // of Redis clients
	HTTPConnections, HTTPRejected                uint64
	Handshakes, HTTPHandshakes                   uint64 // of TLS, failed
	FailedLogins                                 uint64
}

// Metrics are the metrics of a node. It is safe for concurrent use.
type Metrics struct {
	o        Options
	registry *prometheus.Registry
	survey   *survey
	requests *prometheus.CounterVec
	waits    *prometheus.HistogramVec
}

// New returns the metrics of a node. The caller runs Survey in the background.
func New(o Options) *Metrics {
	if o.Disk == nil {
		o.Disk = NewLatencies()
	}
	m := &Metrics{
		o:        o,
		registry: prometheus.NewRegistry(),
		survey:   &survey{o: o, idle: service.Sleep},
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "umbel_http_requests_total", Help: "HTTP requests answered.",
		}, []string{"route", "code"}),
		waits: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "umbel_http_request_duration_seconds", Help: "Duration of HTTP requests.", Buckets: seconds,
		}, []string{"route"}),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "umbel_build_info", Help: "Constant 1, labelled with the version.",
		ConstLabels: prometheus.Labels{"version": o.Version, "goversion": runtime.Version()},
	})
	build.Set(1)
	m.registry.MustRegister(o.Disk.commit, o.Disk.sync, build, commands{o.Usage}, m.requests, m.waits, status.Metrics(m.rows),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// rows returns the metrics that are read when they are collected.
func (m *Metrics) rows() []status.Metric {
	all := append(state(m.o), m.survey.metrics()...)
	if m.o.Publications != nil {
		all = append(all, publications(m.o.Publications())...)
	}
	if m.o.Subscriptions != nil {
		all = append(all, subscriptions(m.o.Subscriptions())...)
	}
	return all
}

// Handler serves scrapes.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry, MaxRequestsInFlight: 4})
}

// Request counts an HTTP request; route is the pattern that it matched, "" if none.
func (m *Metrics) Request(route string, status int, took time.Duration) {
	m.requests.WithLabelValues(route, strconv.Itoa(status)).Inc()
	m.waits.WithLabelValues(route).Observe(took.Seconds())
}

// Latencies are the times that the disk takes. They are made before the rest of the metrics, because
// the store needs them. It is safe for concurrent use.
type Latencies struct{ commit, sync prometheus.Histogram }

// NewLatencies returns histograms for Options.
func NewLatencies() *Latencies {
	histogram := func(name, help string) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: seconds})
	}
	return &Latencies{
		commit: histogram("umbel_log_commit_duration_seconds", "Time from the first change of a batch until the batch is on "+
			"the disk; at most this long a client of durability always waits."),
		sync: histogram("umbel_log_sync_duration_seconds", "Duration of a sync of the log."),
	}
}

// Commit counts a batch that was written.
func (l *Latencies) Commit(took time.Duration) { l.commit.Observe(took.Seconds()) }

// Sync counts a sync of the log.
func (l *Latencies) Sync(took time.Duration) { l.sync.Observe(took.Seconds()) }

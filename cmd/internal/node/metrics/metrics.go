// Package metrics exports the metrics of a node to Prometheus. Filters are measured in the background: a
// scrape reads no filter.
package metrics

import (
	"io"
	"net/http"
	"runtime"
	"time"

	vm "github.com/VictoriaMetrics/metrics"
	"github.com/umbel-filters/umbel/cmd/internal/durable/store"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
	"github.com/umbel-filters/umbel/cmd/internal/service/status"
	"github.com/umbel-filters/umbel/internal/pause"
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
	// Group returns the state of a member of a group, nil if the node is none.
	Group func() *api.Group
	// Usage calls each with the commands that clients called: see resp.Server.Usage.
	Usage   func(each func(*resp.Command, resp.Usage))
	Disk    *Latencies    // nil: none
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
	survey   *survey
	requests requests
}

// New returns the metrics of a node. The caller runs Survey in the background.
func New(o Options) *Metrics {
	if o.Disk == nil {
		o.Disk = new(Latencies)
	}
	return &Metrics{o: o, survey: &survey{o: o, idle: pause.For}}
}

// rows returns all metrics of the node.
func (m *Metrics) rows() []status.Metric {
	all := []status.Metric{
		status.Gauge("umbel_build_info", "Constant 1, labelled with the version.", 1, "version", m.o.Version, "goversion", runtime.Version()),
	}
	all = append(all, state(m.o)...)
	all = append(all, m.o.Disk.metrics()...)
	all = append(all, commands(m.o.Usage)...)
	all = append(all, m.requests.metrics()...)
	all = append(all, m.survey.metrics()...)
	if m.o.Publications != nil {
		all = append(all, publications(m.o.Publications())...)
	}
	if m.o.Group != nil {
		all = append(all, group(m.o.Group())...)
	}
	if m.o.Subscriptions != nil {
		all = append(all, subscriptions(m.o.Subscriptions())...)
	}
	return all
}

// Handler serves scrapes.
func (m *Metrics) Handler() http.Handler {
	return status.Exposition(m.rows, process)
}

// process writes the metrics of the Go runtime and of the process.
func process(w io.Writer) {
	vm.ExposeMetadata(true)
	vm.WriteProcessMetrics(w)
	vm.WriteFDMetrics(w)
}

// Request counts an HTTP request; route is the pattern that it matched, "" if none.
func (m *Metrics) Request(route string, status int, took time.Duration) {
	m.requests.add(route, status, took)
}

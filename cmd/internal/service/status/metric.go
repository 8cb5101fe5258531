package status

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metric is a value for Prometheus.
type Metric struct {
	Name, Help string
	Type       prometheus.ValueType
	Value      float64
	Labels     Labels // nil for none
}

// Labels are the labels of a metric, by name.
type Labels = prometheus.Labels

// Gauge and Counter are the types of most metrics.
const (
	Gauge   = prometheus.GaugeValue
	Counter = prometheus.CounterValue
)

// Metrics collects the metrics that it returns: it is a prometheus.Collector whose metrics are known when they are collected.
type Metrics func() []Metric

// Describe implements prometheus.Collector.
func (Metrics) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (m Metrics) Collect(ch chan<- prometheus.Metric) {
	for _, one := range m() {
		ch <- prometheus.MustNewConstMetric(prometheus.NewDesc(one.Name, one.Help, nil, one.Labels), one.Type, one.Value)
	}
}

// Bool returns 1 for true and 0 for false.
func Bool(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// handler serves the metrics.
func (m Metrics) handler() http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(m)
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4, ErrorHandling: promhttp.ContinueOnError})
}

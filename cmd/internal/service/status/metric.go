package status

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metric is a value for Prometheus: see [Gauge] and [Counter].
type Metric struct {
	name, help string
	kind       prometheus.ValueType
	value      float64
	labels     prometheus.Labels
}

// Gauge returns the metric of a number that may fall. labels are names and values in turn.
func Gauge[N ~int | ~int64 | ~uint32 | ~uint64 | ~float64](name, help string, value N, labels ...string) Metric {
	return metric(name, help, prometheus.GaugeValue, float64(value), labels)
}

// Counter is Gauge for a number that only grows.
func Counter(name, help string, value uint64, labels ...string) Metric {
	return metric(name, help, prometheus.CounterValue, float64(value), labels)
}

// If is Gauge for a condition: 1 if it is true, otherwise 0.
func If(name, help string, condition bool, labels ...string) Metric {
	if condition {
		return Gauge(name, help, 1, labels...)
	}
	return Gauge(name, help, 0, labels...)
}

func metric(name, help string, kind prometheus.ValueType, value float64, labels []string) Metric {
	m := Metric{name: name, help: help, kind: kind, value: value}
	for i := 0; i+1 < len(labels); i += 2 {
		if m.labels == nil {
			m.labels = prometheus.Labels{}
		}
		m.labels[labels[i]] = labels[i+1]
	}
	return m
}

// Metrics is a prometheus.Collector of the metrics that it returns.
type Metrics func() []Metric

// Describe describes nothing: which metrics there are is seen when they are collected.
func (Metrics) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (m Metrics) Collect(ch chan<- prometheus.Metric) {
	for _, one := range m() {
		ch <- prometheus.MustNewConstMetric(prometheus.NewDesc(one.name, one.help, nil, one.labels), one.kind, one.value)
	}
}

// handler serves the metrics.
func (m Metrics) handler() http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(m)
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4, ErrorHandling: promhttp.ContinueOnError})
}

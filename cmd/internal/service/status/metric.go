package status

import "time"

// Metric is a value for Prometheus: see [Gauge], [Counter] and [Histogram].
type Metric struct {
	name, help string
	kind       string // gauge, counter or histogram
	labels     []string
	value      float64
	durations  Durations // of a histogram
}

// Gauge returns the metric of a number that may fall. labels are names and values in turn.
func Gauge[N ~int | ~int64 | ~uint32 | ~uint64 | ~float64](name, help string, value N, labels ...string) Metric {
	return Metric{name: name, help: help, kind: "gauge", value: float64(value), labels: labels}
}

// Counter is Gauge for a number that only grows.
func Counter(name, help string, value uint64, labels ...string) Metric {
	return Metric{name: name, help: help, kind: "counter", value: float64(value), labels: labels}
}

// If is Gauge for a condition: 1 if it is true, otherwise 0.
func If(name, help string, condition bool, labels ...string) Metric {
	if condition {
		return Gauge(name, help, 1, labels...)
	}
	return Gauge(name, help, 0, labels...)
}

// Histogram is Gauge for durations, whose numbers only grow.
func Histogram(name, help string, d Durations, labels ...string) Metric {
	return Metric{name: name, help: help, kind: "histogram", durations: d, labels: labels}
}

// Durations are numbers of durations. The bucket i counts those of at most Least·4^i that no bucket before it counts,
// and the last bucket all longer ones.
type Durations struct {
	Least   time.Duration
	Buckets []uint64
	Total   time.Duration // the sum of the durations
}

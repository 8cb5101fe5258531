package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
)

// subscriptions collects the states of the publications that a replica follows.
type subscriptions struct{ list func() []api.Subscription }

var (
	subscriptionExact    = labelled("umbel_subscription_exact", "1 if the version is verified and its head is valid, otherwise 0.", "filter")
	subscriptionVersion  = labelled("umbel_subscription_version", "Version that answers.", "filter")
	subscriptionAge      = labelled("umbel_subscription_head_age_seconds", "Time since the head was signed: by this much an exact version may lag behind.", "filter")
	subscriptionExpires  = labelled("umbel_subscription_expiry_timestamp_seconds", "Time at which the head expires, in seconds since 1970.", "filter")
	subscriptionBytes    = labelled("umbel_subscription_bytes", "Memory of the filter.", "filter")
	subscriptionRate     = labelled("umbel_subscription_false_positive_rate", "False-positive rate of the version.", "filter")
	subscriptionVersions = labelled("umbel_subscription_versions_total", "Versions that were applied.", "filter")
	subscriptionFetched  = labelled("umbel_subscription_fetched_bytes_total", "Bytes of the objects that were fetched.", "filter")
	subscriptionResyncs  = labelled("umbel_subscription_resyncs_total", "Ways to a version that failed, after which another was tried.", "filter")
	subscriptionFailures = labelled("umbel_subscription_failures_total", "Updates that failed.", "filter")
)

func (s subscriptions) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		subscriptionExact, subscriptionVersion, subscriptionAge, subscriptionExpires, subscriptionBytes, subscriptionRate,
		subscriptionVersions, subscriptionFetched, subscriptionResyncs, subscriptionFailures,
	} {
		ch <- d
	}
}

func (s subscriptions) Collect(ch chan<- prometheus.Metric) {
	if s.list == nil {
		return
	}
	for _, p := range s.list() {
		emit := func(d *prometheus.Desc, kind prometheus.ValueType, v float64) {
			ch <- prometheus.MustNewConstMetric(d, kind, v, p.Filter)
		}
		now := func(d *prometheus.Desc, v float64) { emit(d, prometheus.GaugeValue, v) }
		total := func(d *prometheus.Desc, n uint64) { emit(d, prometheus.CounterValue, float64(n)) }
		now(subscriptionExact, boolValue(p.State == api.SubscriptionExact))
		total(subscriptionVersions, p.Versions)
		total(subscriptionFetched, p.FetchedBytes)
		total(subscriptionResyncs, p.Resyncs)
		total(subscriptionFailures, p.Failures)
		if p.Version == 0 {
			continue
		}
		now(subscriptionVersion, float64(p.Version))
		now(subscriptionAge, p.AgeSeconds)
		now(subscriptionExpires, float64(p.Expires.UnixMilli())/1000)
		now(subscriptionBytes, float64(p.Bytes))
		now(subscriptionRate, float64(p.FPRate))
	}
}

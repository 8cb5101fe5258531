package metrics

import (
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/service/status"
)

// subscriptions returns the states of the publications that a replica follows.
func subscriptions(list []api.Subscription) (all []status.Metric) {
	for _, p := range list {
		all = append(all,
			status.If("umbel_subscription_exact",
				"1 if the version is verified and its head is valid, otherwise 0.", p.State == api.SubscriptionExact, "filter", p.Filter),
			status.Counter("umbel_subscription_versions_total", "Versions that were applied.", p.Versions, "filter", p.Filter),
			status.Counter("umbel_subscription_fetched_bytes_total", "Bytes of the objects that were fetched.", p.FetchedBytes, "filter", p.Filter),
			status.Counter("umbel_subscription_resyncs_total",
				"Ways to a version that failed, after which another was tried.", p.Resyncs, "filter", p.Filter),
			status.Counter("umbel_subscription_failures_total", "Updates that failed.", p.Failures, "filter", p.Filter),
		)
		if p.Version == 0 {
			continue
		}
		all = append(all,
			status.Gauge("umbel_subscription_version", "Version that answers.", p.Version, "filter", p.Filter),
			status.Gauge("umbel_subscription_head_age_seconds",
				"Time since the head was signed: by this much an exact version may lag behind.", p.AgeSeconds, "filter", p.Filter),
			status.Gauge("umbel_subscription_expiry_timestamp_seconds",
				"Time at which the head expires, in seconds since 1970.", float64(p.Expires.UnixMilli())/1000, "filter", p.Filter),
			status.Gauge("umbel_subscription_bytes", "Memory of the filter.", p.Bytes, "filter", p.Filter),
			status.Gauge("umbel_subscription_false_positive_rate", "False-positive rate of the version.", p.FPRate, "filter", p.Filter),
		)
	}
	return all
}

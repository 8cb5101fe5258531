package metrics

import (
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/service/status"
)

// publications returns the states of the publications.
func publications(list []api.Publication) (all []status.Metric) {
	for _, s := range list {
		all = append(all,
			status.If("umbel_publication_healthy",
				"1 if the filter is published, 0 if it is not, and why is in the log.", s.State == api.PublicationCurrent, "filter", s.Filter),
			status.Counter("umbel_publication_failures_total", "Failed attempts to publish.", s.Failures, "filter", s.Filter),
		)
		if s.Version == 0 {
			continue
		}
		all = append(all,
			status.Gauge("umbel_publication_version", "Version of the last head.", s.Version, "filter", s.Filter),
			status.Gauge("umbel_publication_head_age_seconds",
				"Age of the last head; subscribers are stale when its validity is over.", s.AgeSeconds, "filter", s.Filter),
			status.Gauge("umbel_publication_delta_bytes", "Size of the delta to the last version from the one before.", s.DeltaBytes, "filter", s.Filter),
			status.Gauge("umbel_publication_snapshot_bytes", "Size of the newest snapshot.", s.SnapshotBytes, "filter", s.Filter),
			status.Gauge("umbel_publication_duration_seconds",
				"Time to make the last head, including the copy of the filter and the wait for the log.", s.TookSeconds, "filter", s.Filter),
		)
	}
	return all
}

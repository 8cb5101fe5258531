package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
)

// publications collects the states of the publications.
type publications struct{ list func() []api.Publication }

var (
	publicationHealthy  = labelled("umbel_publication_healthy", "1 if the filter is published, 0 if it is not, and why is in the log.", "filter")
	publicationVersion  = labelled("umbel_publication_version", "Version of the last head.", "filter")
	publicationAge      = labelled("umbel_publication_head_age_seconds", "Age of the last head; subscribers are stale when its validity is over.", "filter")
	publicationDelta    = labelled("umbel_publication_delta_bytes", "Size of the delta to the last version from the one before.", "filter")
	publicationSnapshot = labelled("umbel_publication_snapshot_bytes", "Size of the newest snapshot.", "filter")
	publicationFailures = labelled("umbel_publication_failures_total", "Failed attempts to publish.", "filter")
	publicationTook     = labelled("umbel_publication_duration_seconds", "Time to make the last head, including the copy of the filter and the wait for the log.", "filter")
)

func (p publications) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		publicationHealthy, publicationVersion, publicationAge, publicationDelta, publicationSnapshot, publicationFailures, publicationTook,
	} {
		ch <- d
	}
}

func (p publications) Collect(ch chan<- prometheus.Metric) {
	if p.list == nil {
		return
	}
	for _, s := range p.list() {
		emit := func(d *prometheus.Desc, kind prometheus.ValueType, v float64) {
			ch <- prometheus.MustNewConstMetric(d, kind, v, s.Filter)
		}
		now := func(d *prometheus.Desc, v float64) { emit(d, prometheus.GaugeValue, v) }
		now(publicationHealthy, boolValue(s.State == api.PublicationCurrent))
		emit(publicationFailures, prometheus.CounterValue, float64(s.Failures))
		if s.Version == 0 {
			continue
		}
		now(publicationVersion, float64(s.Version))
		now(publicationAge, s.AgeSeconds)
		now(publicationDelta, float64(s.DeltaBytes))
		now(publicationSnapshot, float64(s.SnapshotBytes))
		now(publicationTook, s.TookSeconds)
	}
}

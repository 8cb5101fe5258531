package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
)

// seconds are the bounds of histograms: 16 µs to 17 s in powers of four, those of resp.Usage.
var seconds = prometheus.ExponentialBuckets(resp.LeastBound.Seconds(), 4, resp.Buckets-1)

// commands collects the calls of all commands of Redis clients.
type commands struct {
	usage func(each func(*resp.Command, resp.Usage))
}

var (
	commandsTotal    = prometheus.NewDesc("umbel_commands_total", "Commands called by clients.", []string{"command"}, nil)
	commandsDuration = prometheus.NewDesc("umbel_command_duration_seconds",
		"Duration of commands without the wait for the disk; consecutive calls of one pipeline count as one.", []string{"command"}, nil)
)

func (c commands) Describe(ch chan<- *prometheus.Desc) {
	ch <- commandsTotal
	ch <- commandsDuration
}

// Collect implements prometheus.Collector.
func (c commands) Collect(ch chan<- prometheus.Metric) {
	c.usage(func(cmd *resp.Command, u resp.Usage) {
		ch <- prometheus.MustNewConstMetric(commandsTotal, prometheus.CounterValue, float64(u.Calls), cmd.Name)
		var runs uint64
		buckets := make(map[float64]uint64, len(seconds))
		for i, n := range u.Runs {
			runs += n
			if i < len(seconds) {
				buckets[seconds[i]] = runs
			}
		}
		ch <- prometheus.MustNewConstHistogram(commandsDuration, runs, u.Took.Seconds(), buckets, cmd.Name)
	})
}

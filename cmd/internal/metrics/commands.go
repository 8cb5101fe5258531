package metrics

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// seconds are the bounds of histograms: 16 µs to 17 s in powers of four.
var seconds = prometheus.ExponentialBuckets(16e-6, 4, 11)

// calls counts the calls of a command. It is a histogram that counts batches, with three
// additions per batch.
type calls struct {
	total   atomic.Uint64
	nanos   atomic.Uint64
	buckets [12]atomic.Uint64 // by the bounds in seconds; the last is unbounded
}

// commands collects the calls of all commands. The map is constant.
type commands struct{ by map[string]*calls }

func newCommands(names []string) *commands {
	c := &commands{by: make(map[string]*calls, len(names))}
	for _, name := range names {
		c.by[name] = new(calls)
	}
	return c
}

func (c *commands) observe(command string, n int, took time.Duration) {
	k := c.by[command]
	if k == nil {
		return
	}
	took = max(took, 0)
	i, bound := 0, 16*time.Microsecond
	for i < len(k.buckets)-1 && took > bound {
		i, bound = i+1, bound*4
	}
	k.total.Add(uint64(n))
	k.nanos.Add(uint64(took))
	k.buckets[i].Add(1)
}

var (
	commandsTotal    = prometheus.NewDesc("umbel_commands_total", "Commands called by clients.", []string{"command"}, nil)
	commandsDuration = prometheus.NewDesc("umbel_command_duration_seconds",
		"Duration of commands without the wait for the disk; consecutive calls of one pipeline count as one.", []string{"command"}, nil)
)

func (c *commands) Describe(ch chan<- *prometheus.Desc) {
	ch <- commandsTotal
	ch <- commandsDuration
}

// Collect implements prometheus.Collector.
func (c *commands) Collect(ch chan<- prometheus.Metric) {
	for name, k := range c.by {
		total := k.total.Load()
		if total == 0 {
			continue
		}
		ch <- prometheus.MustNewConstMetric(commandsTotal, prometheus.CounterValue, float64(total), name)
		var batches uint64
		buckets := make(map[float64]uint64, len(seconds))
		for i := range k.buckets {
			batches += k.buckets[i].Load()
			if i < len(seconds) {
				buckets[seconds[i]] = batches
			}
		}
		ch <- prometheus.MustNewConstHistogram(commandsDuration, batches, time.Duration(k.nanos.Load()).Seconds(), buckets, name)
	}
}

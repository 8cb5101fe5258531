package metrics

import (
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
	"github.com/umbel-filters/umbel/cmd/internal/service/status"
)

// commands returns the calls of all commands of Redis clients. usage calls each with the commands that were called.
func commands(usage func(each func(*resp.Command, resp.Usage))) (all []status.Metric) {
	usage(func(cmd *resp.Command, u resp.Usage) {
		all = append(all,
			status.Counter("umbel_commands_total", "Commands called by clients.", u.Calls, "command", cmd.Name),
			status.Histogram("umbel_command_duration_seconds",
				"Duration of commands without the wait for the disk; consecutive calls of one pipeline count as one.",
				status.Durations{Least: resp.LeastBound, Buckets: u.Runs[:], Total: u.Took}, "command", cmd.Name),
		)
	})
	return all
}

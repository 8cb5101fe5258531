package metrics

import (
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/service/status"
)

// group returns the metrics of a member of a group, none for nil.
func group(g *api.Group) (all []status.Metric) {
	if g == nil {
		return nil
	}
	for _, role := range []string{api.RoleLeader, api.RoleFollower, api.RoleStranded} {
		all = append(all, status.If("umbel_group_role", "1 for the role of this member of a group, 0 for the others.", g.Role == role, "role", role))
	}
	return append(all,
		status.Gauge("umbel_group_age_seconds", "Time for which this member may lack changes, at most; -1 if it has not seen the end of the log "+
			"since it started.", g.AgeSeconds),
		status.Gauge("umbel_group_epoch", "Number of times that a member began to lead the group.", g.Epoch),
		status.Gauge("umbel_group_batch", "Number of batches of the log of the group that this member has.", g.Batch),
		status.Gauge("umbel_group_position", "Position of the last change that this member has.", g.Position),
		status.If("umbel_group_healthy", "0 if this member does not reach the log of the group, or cannot follow it.", g.Problem == ""),
		status.If("umbel_group_snapshot_healthy", "0 if the last snapshot of the group that this member took failed.", g.SnapshotFailed == ""),
	)
}

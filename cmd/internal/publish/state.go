package publish

import (
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/report"
	"github.com/umbel-filters/umbel/internal/event"
	"github.com/umbel-filters/umbel/share"
)

// result is what a look at the filter did.
type result struct {
	head      *share.Head // the last one that is in the directory; nil: not known
	snapshot  uint64      // bytes of the newest snapshot; 0: as before
	published bool        // there is a new head
	disk      int64       // bytes of all files; 0: as before
	err       error       // why the filter is not published
}

func (r result) version() uint64 {
	if r.head == nil {
		return 0
	}
	return r.head.Version
}

// failed reports whether the attempt may succeed later although the filter does not change.
func (r result) failed() bool { return stateOf(r.err) == api.PublicationFailed }

// note updates the status, and logs changes of the state.
func (p *Publication) note(r result, took time.Duration) {
	state, text := stateOf(r.err), ""
	if r.err != nil {
		text = report.Text(r.err)
	}
	p.mu.Lock()
	was := p.status.State
	s := &p.status
	s.State, s.Error = state, text
	if r.failed() {
		s.Failures++
	}
	if r.published {
		s.TookSeconds = took.Seconds()
	}
	if r.disk > 0 {
		s.DiskBytes = uint64(r.disk)
	}
	if r.head != nil {
		s.Version, s.Kind, s.Bytes, s.ID = r.head.Version, r.head.Kind, r.head.Bytes, r.head.ID.String()
		at, expires := r.head.Time, r.head.Expires()
		s.Time, s.Expires = &at, &expires
	}
	if r.snapshot > 0 {
		s.SnapshotBytes, s.DeltaBytes = r.snapshot, 0
		if len(r.head.Deltas) > 0 {
			s.DeltaBytes = r.head.Deltas[0].Bytes
		}
	}
	p.mu.Unlock()
	if r.published {
		p.source.notify()
		p.log.Debug("head published", "filter", p.spec.Filter, "version", r.version(), "took", took)
	}
	switch {
	case was == state:
	case state == api.PublicationCurrent:
		p.log.Info("filter is published", event.Published, "filter", p.spec.Filter, "version", r.version(), "bytes", r.head.Bytes, "took", took)
	case state == api.PublicationFailed:
		p.log.Error("publishing a filter failed; will retry", event.PublicationFailed, "filter", p.spec.Filter, "error", r.err)
	default:
		p.log.Warn("filter is not published; its subscribers become stale", event.PublicationSuspended, "filter", p.spec.Filter, "reason", state, "error", r.err)
	}
}

package substituter

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/cli/table"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/service/status"
)

// Status is the state of a server: counters since it began.
type Status struct {
	Began       time.Time        `json:"began"`
	Absent      uint64           `json:"absent"`      // narinfos that no upstream has, by the summaries alone
	Found       uint64           `json:"found"`       // narinfos
	Missing     uint64           `json:"missing"`     // narinfos that no upstream had when it was requested
	Unreachable uint64           `json:"unreachable"` // narinfos that an upstream may have that was not reachable
	NARs        uint64           `json:"nars"`
	NARBytes    uint64           `json:"narBytes"`
	Upstreams   []UpstreamStatus `json:"upstreams"`
}

// UpstreamStatus is the state of an upstream.
type UpstreamStatus struct {
	URL            string         `json:"url"` // without credentials
	Sibling        bool           `json:"sibling"`
	Summary        *SummaryStatus `json:"summary,omitempty"`
	Skipped        uint64         `json:"skipped"`   // narinfos that it does not have by its summary
	Requested      uint64         `json:"requested"` // narinfos
	Found          uint64         `json:"found"`
	FalsePositives uint64         `json:"falsePositives"` // not found although its summary has them
	Unknown        uint64         `json:"unknown"`        // not found, and it had no current summary
	Failures       uint64         `json:"failures"`
	RetryAt        time.Time      `json:"retryAt,omitzero"` // of an upstream that has failed
}

// Status returns the state of the server.
func (s *Server) Status() Status {
	c := &s.counters
	st := Status{
		Began: s.began, Absent: c.absent.Load(), Found: c.found.Load(), Missing: c.missing.Load(), Unreachable: c.unreachable.Load(),
		NARs: c.nars.Load(), NARBytes: c.narBytes.Load(),
	}
	for _, u := range s.upstreams {
		one := UpstreamStatus{
			URL: u.URL.Redacted(), Sibling: u.Sibling, Skipped: u.skipped.Load(), Requested: u.requested.Load(), Found: u.found.Load(),
			FalsePositives: u.missed.Load(), Unknown: u.unknown.Load(), Failures: u.failures.Load(),
		}
		if until, dead := u.backOff.dead(); dead {
			one.RetryAt = until
		}
		if u.Summary != nil {
			summary := u.Summary.Status()
			one.Summary = &summary
		}
		st.Upstreams = append(st.Upstreams, one)
	}
	return st
}

// Metrics returns the state for Prometheus.
func (st Status) Metrics() []status.Metric {
	const narinfos, helpNarinfos = "umbel_nix_narinfos_total", "Requests for narinfos by the way they were answered."
	const requests, helpRequests = "umbel_nix_cache_requests_total", "Narinfos by the request to a cache and its reply."
	all := []status.Metric{
		status.Counter("umbel_nix_nars_total", "NARs that were sent.", st.NARs),
		status.Counter("umbel_nix_nar_bytes_total", "Bytes of the NARs that were sent.", st.NARBytes),
	}
	for result, n := range map[string]uint64{"absent": st.Absent, "found": st.Found, "missing": st.Missing, "unreachable": st.Unreachable} {
		all = append(all, status.Counter(narinfos, helpNarinfos, n, "result", result))
	}
	for _, u := range st.Upstreams {
		for result, n := range map[string]uint64{
			"skipped": u.Skipped, "requested": u.Requested, "found": u.Found, "false-positive": u.FalsePositives, "unknown": u.Unknown, "failed": u.Failures,
		} {
			all = append(all, status.Counter(requests, helpRequests, n, "cache", u.URL, "result", result))
		}
		if s := u.Summary; s != nil {
			all = append(all, status.If("umbel_nix_summary_current", "1 while the summary of the cache is current.", s.Current, "cache", u.URL))
		}
	}
	return all
}

// Write writes the state as text.
func (st Status) Write(w io.Writer) error {
	t := table.New("Cache", "Role", "Summary", " Skipped", " Requests", " Found", " False", " Failed")
	var faults []string
	for _, u := range st.Upstreams {
		count := func(n uint64) string { return quantity.Count(n).String() }
		t.Row(u.name(), u.role(), u.describe(), count(u.Skipped), count(u.Requested), count(u.Found), count(u.FalsePositives), count(u.Failures))
		if s := u.Summary; s != nil && !s.Current && s.Error != "" {
			faults = append(faults, fmt.Sprintf("the summary of %s is not current: %s\n", u.name(), s.Error))
		}
	}
	if _, err := t.WriteTo(w); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nFalse: paths that the summary has and the cache has not\n%s", strings.Join(faults, ""))
	_, err := fmt.Fprintf(w, "%v paths absent from all upstreams, %v found, %v not found, %v unanswered; %v NARs of %v\n",
		quantity.Count(st.Absent), quantity.Count(st.Found), quantity.Count(st.Missing), quantity.Count(st.Unreachable),
		quantity.Count(st.NARs), quantity.Size(st.NARBytes))
	return err
}

// name returns the URL without what is the same in most.
func (u UpstreamStatus) name() string {
	_, name, _ := strings.Cut(u.URL, "://")
	return strings.TrimSuffix(name, "/")
}

func (u UpstreamStatus) role() string {
	if u.Sibling {
		return "sibling"
	}
	return "upstream"
}

// describe returns the state of the summary in a few words.
func (u UpstreamStatus) describe() string {
	switch s := u.Summary; {
	case s == nil:
		return "none"
	case s.Current && s.Version > 0:
		return "version " + strconv.FormatUint(s.Version, 10)
	case s.Current:
		return "current"
	}
	return "not current"
}

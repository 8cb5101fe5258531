package metrics

import (
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/store"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
	"github.com/umbel-filters/umbel/cmd/internal/service/status"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/internal/pause"
)

// described returns the names of all metrics that are this package's own: those of a node that has everything.
func described(t *testing.T) (names []string) {
	t.Helper()
	e := engine.New(engine.Options{Kinds: filter.All})
	if _, _, err := e.Create("words", "bloom", umbel.Goal{Keys: 100, FPRate: .01}, nil); err != nil {
		t.Fatal(err)
	}
	expires := time.Unix(1_500, 0)
	m := New(Options{
		Engine: e, Filters: 10, Clients: func() int { return 0 }, Totals: func() Totals { return Totals{} },
		Status:        func() store.Status { return store.Status{LastSnapshot: time.Now()} },
		Publications:  func() []api.Publication { return []api.Publication{{Filter: "words", Version: 1}} },
		Group:         func() *api.Group { return &api.Group{Role: api.RoleLeader} },
		Subscriptions: func() []api.Subscription { return []api.Subscription{{Filter: "words", Version: 1, Expires: &expires}} },
		Usage:         func(each func(*resp.Command, resp.Usage)) { each(&resp.Command{Name: "bf.add"}, resp.Usage{}) },
	})
	m.Request("GET /", 200, time.Second)
	found, _ := m.survey.walk(t.Context())
	m.survey.last.Store(found)
	page := httptest.NewRecorder()
	m.Handler().ServeHTTP(page, httptest.NewRequest("GET", "/metrics", nil))
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(page.Body)
	if err != nil {
		t.Fatal(err)
	}
	for name := range families {
		if !strings.HasPrefix(name, "go_") && !strings.HasPrefix(name, "process_") {
			names = append(names, name)
		}
	}
	for _, name := range []string{"go_goroutines", "go_memstats_heap_inuse_bytes", "process_start_time_seconds", "process_open_fds"} {
		if families[name] == nil {
			t.Errorf("%s is missing", name)
		}
	}
	return names
}

// compare scrapes metrics with Prometheus' own parser, and compares those with the names.
func compare(t *testing.T, metrics func() []status.Metric, want string, names ...string) {
	t.Helper()
	server := httptest.NewServer(status.Exposition(metrics))
	defer server.Close()
	if err := testutil.ScrapeAndCompare(server.URL, strings.NewReader(want), names...); err != nil {
		t.Error(err)
	}
}

// The page describes all metrics, and no others.
func TestDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/node-metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	names := described(t)
	for _, name := range names {
		if !strings.Contains(string(page), "| `"+name+"` |") {
			t.Errorf("%s isn't in docs/node-metrics.md", name)
		}
	}
	for _, m := range regexp.MustCompile("\\| `([a-z_]+)` \\|").FindAllStringSubmatch(string(page), -1) {
		if !slices.Contains(names, m[1]) {
			t.Errorf("docs/node-metrics.md has %s, which there isn't", m[1])
		}
	}
}

// Calls of a pipeline count one by one, and their time once.
func TestCommands(t *testing.T) {
	usage := func(each func(*resp.Command, resp.Usage)) {
		each(&resp.Command{Name: "bf.add"}, resp.Usage{Calls: 66, Took: 90 * time.Second, Runs: [resp.Buckets]uint64{0: 2, resp.Buckets - 1: 1}})
	}
	const want = `
# HELP umbel_command_duration_seconds Duration of commands without the wait for the disk; consecutive calls of one pipeline count as one.
# TYPE umbel_command_duration_seconds histogram
umbel_command_duration_seconds_bucket{command="bf.add",le="1.6e-05"} 2
umbel_command_duration_seconds_bucket{command="bf.add",le="6.4e-05"} 2
umbel_command_duration_seconds_bucket{command="bf.add",le="0.000256"} 2
umbel_command_duration_seconds_bucket{command="bf.add",le="0.001024"} 2
umbel_command_duration_seconds_bucket{command="bf.add",le="0.004096"} 2
umbel_command_duration_seconds_bucket{command="bf.add",le="0.016384"} 2
umbel_command_duration_seconds_bucket{command="bf.add",le="0.065536"} 2
umbel_command_duration_seconds_bucket{command="bf.add",le="0.262144"} 2
umbel_command_duration_seconds_bucket{command="bf.add",le="1.048576"} 2
umbel_command_duration_seconds_bucket{command="bf.add",le="4.194304"} 2
umbel_command_duration_seconds_bucket{command="bf.add",le="16.777216"} 2
umbel_command_duration_seconds_bucket{command="bf.add",le="+Inf"} 3
umbel_command_duration_seconds_sum{command="bf.add"} 90
umbel_command_duration_seconds_count{command="bf.add"} 3
# HELP umbel_commands_total Commands called by clients.
# TYPE umbel_commands_total counter
umbel_commands_total{command="bf.add"} 66
`
	compare(t, func() []status.Metric { return commands(usage) }, want)
}

func TestLabel(t *testing.T) {
	for name, want := range map[string]string{"a": "a", "": "", "\xff\xfea": "\uFFFDa", strings.Repeat("x", 200): strings.Repeat("x", maxLabel)} {
		if got := label(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// Publications without a version have no metrics of a version.
func TestPublications(t *testing.T) {
	p := func() []status.Metric {
		return publications([]api.Publication{
			{Filter: "words", State: api.PublicationCurrent, Version: 14, AgeSeconds: 3, DeltaBytes: 45, SnapshotBytes: 812, TookSeconds: 0.5, Failures: 2},
			{Filter: "none", State: api.PublicationMissing},
		})
	}
	compare(t, p, `
# HELP umbel_publication_healthy 1 if the filter is published, 0 if it is not, and why is in the log.
# TYPE umbel_publication_healthy gauge
umbel_publication_healthy{filter="none"} 0
umbel_publication_healthy{filter="words"} 1
# HELP umbel_publication_version Version of the last head.
# TYPE umbel_publication_version gauge
umbel_publication_version{filter="words"} 14
# HELP umbel_publication_head_age_seconds Age of the last head; subscribers are stale when its validity is over.
# TYPE umbel_publication_head_age_seconds gauge
umbel_publication_head_age_seconds{filter="words"} 3
# HELP umbel_publication_failures_total Failed attempts to publish.
# TYPE umbel_publication_failures_total counter
umbel_publication_failures_total{filter="none"} 0
umbel_publication_failures_total{filter="words"} 2
`, "umbel_publication_healthy", "umbel_publication_version", "umbel_publication_head_age_seconds", "umbel_publication_failures_total")
	if n := len(p()); n != 2+7 {
		t.Errorf("%d metrics, want 9", n)
	}
}

// A filter of which data was lost is counted, and its rate is 1.
func TestIncompleteFilters(t *testing.T) {
	e := engine.New(engine.Options{Kinds: filter.All})
	for _, name := range []string{"lost", "whole"} {
		f, _, err := e.Create(name, "bloom", umbel.Goal{Keys: 100, FPRate: .01}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if name == "lost" {
			e.MarkLost(f.ID())
		}
	}
	o := Options{Engine: e, Filters: 10, Clients: func() int { return 0 }, Totals: func() Totals { return Totals{} }, Status: func() store.Status { return store.Status{} }}
	compare(t, func() []status.Metric { return state(o) }, `
# HELP umbel_incomplete_filters Filters of which data was lost: every query returns true until they are created again.
# TYPE umbel_incomplete_filters gauge
umbel_incomplete_filters 1
`, "umbel_incomplete_filters")
	s := &survey{o: o, idle: pause.For}
	found, ok := s.walk(t.Context())
	if !ok {
		t.Fatal("the survey did not end")
	}
	s.last.Store(found)
	compare(t, s.metrics, `
# HELP umbel_filter_false_positive_ratio Estimated false-positive rate.
# TYPE umbel_filter_false_positive_ratio gauge
umbel_filter_false_positive_ratio{filter="lost",kind="bloom"} 1
umbel_filter_false_positive_ratio{filter="whole",kind="bloom"} 0
# HELP umbel_filter_planned_false_positive_ratio False-positive rate that the filter was made for.
# TYPE umbel_filter_planned_false_positive_ratio gauge
umbel_filter_planned_false_positive_ratio{filter="lost",kind="bloom"} 0.01
umbel_filter_planned_false_positive_ratio{filter="whole",kind="bloom"} 0.01
# HELP umbel_filter_planned_keys Keys that the filter was made for.
# TYPE umbel_filter_planned_keys gauge
umbel_filter_planned_keys{filter="lost",kind="bloom"} 100
umbel_filter_planned_keys{filter="whole",kind="bloom"} 100
# HELP umbel_overfull_filters Filters whose false-positive rate is more than twice the one that they were made for.
# TYPE umbel_overfull_filters gauge
umbel_overfull_filters 0
`, "umbel_filter_false_positive_ratio", "umbel_filter_planned_false_positive_ratio", "umbel_filter_planned_keys", "umbel_overfull_filters")
}

// unreadable is a filter that panics when it is measured.
type unreadable struct{ *bloom.Filter }

func (unreadable) Stats() umbel.Stats { panic("a fault of the kind") }

// A filter that cannot be measured is counted, and the survey measures the others.
func TestFaultyFilters(t *testing.T) {
	e := engine.New(engine.Options{Kinds: filter.All})
	own, err := bloom.New(100, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := e.Put("faulty", unreadable{own}, engine.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := e.Create("whole", "bloom", umbel.Goal{Keys: 100, FPRate: .01}, nil); err != nil {
		t.Fatal(err)
	}
	o := Options{Engine: e, Filters: 10, Clients: func() int { return 0 }, Totals: func() Totals { return Totals{} }, Status: func() store.Status { return store.Status{} }}
	s := &survey{o: o, idle: pause.For}
	for range 2 {
		if found, ok := s.walk(t.Context()); !ok || len(found.largest) != 1 || found.largest[0].name != "whole" {
			t.Errorf("the survey found %v, %v; want the other filter only", found, ok)
		}
	}
	compare(t, func() []status.Metric { return state(o) }, `
# HELP umbel_faulty_filters Filters that could not be read because of a fault in umbel; the log has the details.
# TYPE umbel_faulty_filters gauge
umbel_faulty_filters 1
# HELP umbel_filter_faults_total Reads of filters that failed because of a fault in umbel.
# TYPE umbel_filter_faults_total counter
umbel_filter_faults_total 2
`, "umbel_faulty_filters", "umbel_filter_faults_total")
}

// Refused changes are counted by their reason.
func TestRefusedChanges(t *testing.T) {
	e := engine.New(engine.Options{Kinds: filter.All, MaxMemory: 1000})
	if _, _, err := e.Create("f", "bloom", umbel.Goal{Keys: 1 << 20, FPRate: .01}, nil); err == nil {
		t.Fatal("a filter that is larger than the limit is made")
	}
	o := Options{Engine: e, Clients: func() int { return 0 }, Totals: func() Totals { return Totals{} }, Status: func() store.Status { return store.Status{Refused: 2} }}
	compare(t, func() []status.Metric { return state(o) }, `
# HELP umbel_refused_changes_total Changes that were refused because they could not be made durable (log), or because filters may not grow (disk, memory).
# TYPE umbel_refused_changes_total counter
umbel_refused_changes_total{reason="disk"} 0
umbel_refused_changes_total{reason="log"} 2
umbel_refused_changes_total{reason="memory"} 1
`, "umbel_refused_changes_total")
}

// Filters with too many keys for their plan are counted, and those that were made from parameters alone have none.
func TestOverfullFilters(t *testing.T) {
	e := engine.New(engine.Options{Kinds: filter.All})
	for _, name := range []string{"full", "none", "roomy"} {
		var g umbel.Goal
		var ps umbel.Params
		switch name {
		case "none":
			ps = umbel.Params{{Name: "k", Value: umbel.Uint(2)}, {Name: "m", Value: umbel.Uint(64)}}
		case "full":
			g = umbel.Goal{Keys: 10, FPRate: .01}
		default:
			g = umbel.Goal{Keys: 1000, FPRate: .01}
		}
		f, _, err := e.Create(name, "bloom", g, ps)
		if err != nil {
			t.Fatal(err)
		}
		ds := make([]umbel.Digest, 100)
		for i := range ds {
			ds[i] = f.Hasher().HashUint64(uint64(i))
		}
		if _, _, err := f.Add(make([]bool, len(ds)), ds); err != nil {
			t.Fatal(err)
		}
	}
	s := &survey{o: Options{Engine: e, Filters: 10}, idle: pause.For}
	found, ok := s.walk(t.Context())
	if !ok {
		t.Fatal("the survey did not end")
	}
	s.last.Store(found)
	compare(t, s.metrics, `
# HELP umbel_overfull_filters Filters whose false-positive rate is more than twice the one that they were made for.
# TYPE umbel_overfull_filters gauge
umbel_overfull_filters 1
# HELP umbel_filter_planned_keys Keys that the filter was made for.
# TYPE umbel_filter_planned_keys gauge
umbel_filter_planned_keys{filter="full",kind="bloom"} 10
umbel_filter_planned_keys{filter="roomy",kind="bloom"} 1000
`, "umbel_overfull_filters", "umbel_filter_planned_keys")
}

// Subscriptions without a version have no metrics of a version.
func TestSubscriptions(t *testing.T) {
	expires := time.UnixMilli(1_500_500)
	s := func() []status.Metric {
		return subscriptions([]api.Subscription{
			{Filter: "words", State: api.SubscriptionExact, Version: 14, AgeSeconds: 3, Expires: &expires, Bytes: 100, FPRate: 0.5, Versions: 2, FetchedBytes: 45, Resyncs: 1, Failures: 3},
			{Filter: "none", State: api.SubscriptionWaiting},
		})
	}
	compare(t, s, `
# HELP umbel_subscription_exact 1 if the version is verified and its head is valid, otherwise 0.
# TYPE umbel_subscription_exact gauge
umbel_subscription_exact{filter="none"} 0
umbel_subscription_exact{filter="words"} 1
# HELP umbel_subscription_expiry_timestamp_seconds Time at which the head expires, in seconds since 1970.
# TYPE umbel_subscription_expiry_timestamp_seconds gauge
umbel_subscription_expiry_timestamp_seconds{filter="words"} 1500.5
# HELP umbel_subscription_failures_total Updates that failed.
# TYPE umbel_subscription_failures_total counter
umbel_subscription_failures_total{filter="none"} 0
umbel_subscription_failures_total{filter="words"} 3
`, "umbel_subscription_exact", "umbel_subscription_expiry_timestamp_seconds", "umbel_subscription_failures_total")
}

package httpapi

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/publish/replica"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/share"
)

// serveReplica starts a replica of publications with one key each, of which the last one has no version.
func serveReplica(t *testing.T, o Options, names ...string) *node {
	t.Helper()
	o.Engine = engine.New(engine.Options{Kinds: filter.All, ReadOnly: engine.ErrReplica})
	var all []replica.Publication
	for i, name := range names {
		key, _, err := share.NewKey("example.org/" + name)
		if err != nil {
			t.Fatal(err)
		}
		store := new(share.Memory)
		p, err := share.NewPublisher(t.Context(), share.PublisherOptions{Store: store, Key: key, Valid: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		f, err := bloom.New(1000, 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		f.AddString(name)
		if i < len(names)-1 {
			if _, err := p.Publish(t.Context(), f.State()); err != nil {
				t.Fatal(err)
			}
		}
		all = append(all, replica.Publication{Spec: replica.Spec{Filter: name, Source: "https://user:secret@example.org"}, Reader: store, Verifier: key.Verifier})
	}
	set, err := replica.Open(t.Context(), replica.Options{Engine: o.Engine, Publications: all, Cache: t.TempDir(), Stale: share.StaleError, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := set.Close(); err != nil {
			t.Error(err)
		}
	})
	set.Update(t.Context())
	o.Subscriptions, o.Ready = set, set.Exact
	return serve(t, o)
}

// A replica answers queries, refuses changes, and returns a problem for a version that is out of date.
func TestReplica(t *testing.T) {
	n := serveReplica(t, Options{}, "alice", "bob", "late")
	n.want(n.ask("POST", "/v1/filters/alice/has", `{"keys": ["alice", "bob"]}`), 200, `[true,false]`)
	n.wantProblem(n.ask("POST", "/v1/filters/late/has", `{"keys": ["late"]}`), 503, "stale")
	n.wantProblem(n.ask("POST", "/v1/filters/late/has", "late\n", "Content-Type: text/plain"), 503, "stale")
	n.want(n.ask("GET", "/v1/filters/late", ""), 200, `"incomplete":"stale"`)
	n.wantProblem(n.ask("GET", "/v1/filters/late", "", "Accept: application/vnd.umbel.container"), 503, "stale")
	n.want(n.ask("GET", "/v1/filters/alice", "", "Accept: application/vnd.umbel.container"), 200)
	for _, r := range [][3]string{
		{"PUT", "/v1/filters/new", `{"keys": 1000}`}, {"POST", "/v1/filters/alice/add", `{"keys": ["x"]}`}, {"DELETE", "/v1/filters/alice", ""},
		{"POST", "/v1/filters/alice/clear", ""}, {"POST", "/v1/filters/alice/copy", `{"name": "x"}`}, {"POST", "/v1/filters/alice/fold", `{"factor": 2}`},
		{"POST", "/v1/filters/alice/merge", `{"name": "bob"}`},
		{"GET", "/writable", ""},
	} {
		n.wantProblem(n.ask(r[0], r[1], r[2]), 403, "replica")
	}
	n.wantProblem(n.ask("GET", "/v1/backup", ""), 501, "absent")
	n.wantProblem(n.ask("GET", "/readyz", ""), 503, "not-ready", `1 of 3 publications have no valid version: \"late\"`)
	n.want(n.ask("GET", "/healthz", ""), 200)

	n.want(n.ask("GET", "/v1/subscriptions", ""), 200, `"filter":"alice"`, `"source":"https://example.org"`, `"state":"waiting"`)
	n.want(n.ask("POST", "/v1/subscriptions/has", `{"keys": ["bob", "nobody"]}`), 200, `{"filters":[["bob"],[]],"unanswered":[{"filter":"late","state":"waiting","error":"no version has arrived yet`)
	n.wantProblem(n.ask("POST", "/v1/subscriptions/has", `{"keys": 3}`), 400, "bad-request")
}

// A server that follows nothing has no subscriptions.
func TestNoSubscriptions(t *testing.T) {
	n := serve(t, Options{})
	n.want(n.ask("GET", "/v1/subscriptions", ""), 200, `{"subscriptions":[]}`)
	n.wantProblem(n.ask("POST", "/v1/subscriptions/has", `{"keys": ["a"]}`), 501, "absent")
}

// A user sees the publications whose filters the user may read.
func TestSubscriptionRights(t *testing.T) {
	n := serveReplica(t, Options{Users: users(t)}, "alice", "bob", "late")
	r := n.want(n.ask("GET", "/v1/subscriptions", "", as("read")), 200, `"filter":"alice"`)
	if strings.Contains(r.body, "bob") {
		t.Errorf("a user without the right reads %s", r.body)
	}
	n.want(n.ask("POST", "/v1/subscriptions/has", `{"keys": ["alice", "bob"]}`, as("read")), 200, `{"filters":[["alice"],[]],"unanswered":[]}`)
	n.want(n.ask("POST", "/v1/subscriptions/has", `{"keys": ["alice", "bob"]}`, as("all")), 200, `{"filters":[["alice"],["bob"]],"unanswered":[{"filter":"late"`)
	n.wantProblem(n.ask("GET", "/v1/subscriptions", ""), 401, "unauthorized")
}

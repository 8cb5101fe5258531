package httpapi

import (
	"testing"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/filter"
)

// A window that is made with the length of a tick follows the clock, and its description has how far it is behind.
func TestWindowFollowsClock(t *testing.T) {
	now := int64(1_800_000_000_000)
	e := engine.New(engine.Options{Kinds: filter.All, Now: func() int64 { return now }})
	n := serve(t, Options{Engine: e})
	n.make("hour", `{"kind":"window","keys":100,"fpRate":0.01,"params":{"window":3600},"tickNanos":1000000000}`)
	const path = "/v1/filters/hour"
	n.want(n.ask("GET", path, ""), 200, `"now":1800000000,`, `"tickNanos":1000000000}`)
	now += 2 * time.Hour.Milliseconds()
	n.want(n.ask("GET", path, ""), 200, `"behindSeconds":7200}`)
	n.want(n.ask("GET", "/v1/filters", ""), 200, `"behindSeconds":7200}`)
	if err := e.FollowClock(t.Context()); err != nil {
		t.Fatal(err)
	}
	n.want(n.ask("GET", path, ""), 200, `"now":1800007200,`, `"tickNanos":1000000000}`)
	now += 60_000 // within a generation
	n.want(n.ask("GET", path, ""), 200, `"tickNanos":1000000000}`)
	n.wantProblem(n.ask("PUT", "/v1/filters/other", `{"kind":"bloom","keys":100,"tickNanos":1000000000}`), 422, "goal")
	n.wantProblem(n.ask("PUT", "/v1/filters/other", `{"kind":"window","keys":100,"params":{"window":60},"tickNanos":9223372036854775808}`), 400, "bad-request")
	n.wantProblem(n.ask("PUT", "/v1/filters/other", `{"kind":"window","keys":100,"tickNanos":1000000000}`), 400, "bad-request")
	n.wantProblem(n.ask("POST", path+"/advance", `{"to":1800000000000}`), 409, "mismatch")
	if e.Get([]byte("other")) != nil {
		t.Error("a filter was made")
	}
}

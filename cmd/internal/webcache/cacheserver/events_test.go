package cacheserver

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/report/eventlog"
	"github.com/umbel-filters/umbel/cmd/internal/report/eventlog/eventlogtest"
	"github.com/umbel-filters/umbel/cmd/internal/webcache/sidecar"
)

// notLogged are files whose messages neither umbel-cache serve nor umbel-cache siblings log: they have no users, their
// subscribers do not log, and they log no filters.
var notLogged = regexp.MustCompile(`/(access/audit|squidpeer/relay|share/subscriber\w*|filter/internal/kinds/front)\.go:`)

// Every message of umbel-cache serve and of umbel-cache siblings has an event, and the pages describe all events and keys.
func TestEvents(t *testing.T) {
	v := eventlogtest.Read(t, func(path string) bool { return strings.Contains(path, "/umbel/") })
	logged, keys := map[string]bool{}, map[string]bool{}
	for _, c := range v.Calls {
		if notLogged.MatchString(c.Place) {
			continue
		}
		logged[c.Message] = true
		if Events[c.Message] == "" {
			t.Errorf("%s: the message %q has no event: add it to events.go and to docs/cache.md or docs/siblings.md", c.Place, c.Message)
		}
	}
	for _, k := range v.Keys {
		if !notLogged.MatchString(k.Place) {
			keys[k.Key] = true
		}
	}
	cache, mesh := page(t, "cache"), page(t, "siblings")
	for name, p := range map[string]struct {
		events eventlog.Events
		text   string
	}{"cache": {own, cache}, "siblings": {sidecar.Events, mesh}} {
		for message, event := range p.events {
			if !logged[message] {
				t.Errorf("the message %q is not logged", message)
			}
			if !strings.Contains(p.text, "| `"+event+"` |") {
				t.Errorf("docs/%s.md has no row for %s", name, event)
			}
		}
	}
	for key := range keys {
		if !strings.Contains(cache+mesh, "`"+key+"`") {
			t.Errorf("the pages do not describe the key %q", key)
		}
	}
}

// page returns the section of a page that describes the log.
func page(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile("../../../../docs/" + name + ".md")
	if err != nil {
		t.Fatal(err)
	}
	_, log, ok := strings.Cut(string(b), "\n## Log\n")
	if !ok {
		t.Fatalf("docs/%s.md has no section Log", name)
	}
	log, _, _ = strings.Cut(log, "\n## ")
	return log
}

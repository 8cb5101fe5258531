package node

import (
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/report/eventlog"
	"github.com/umbel-filters/umbel/cmd/internal/report/eventlog/eventlogtest"
)

// readVocabulary finds what the packages of the server log.
func readVocabulary(t *testing.T) eventlogtest.Vocabulary {
	t.Helper()
	v := eventlogtest.Read(t, func(path string) bool {
		return strings.Contains(path, "/umbel/cmd/internal/") || strings.HasSuffix(path, "/umbel/share") || strings.HasSuffix(path, "/umbel/internal/faultlog")
	})
	if len(v.Calls) < 30 || len(v.Keys) < 60 {
		t.Fatalf("%d messages and %d keys were found, want 30 and 60 or more", len(v.Calls), len(v.Keys))
	}
	return v
}

// Every key of a message is in the documentation, with the form of its values, so that one thing has one
// key, which programs can read.
func TestKeysOfMessages(t *testing.T) {
	page, err := os.ReadFile("../../../docs/node-logs.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "## Keys")
	documented := map[string]string{}
	for row := range strings.Lines(table) {
		cells := strings.Split(row, " | ")
		for _, m := range regexp.MustCompile("`([a-z]+)`").FindAllStringSubmatch(cells[0], -1) {
			if strings.HasPrefix(row, "| `") {
				documented[m[1]] = cells[1]
			}
		}
	}
	used := map[string]bool{}
	for _, k := range readVocabulary(t).Keys {
		used[k.Key] = true
		if want := documented[k.Key]; k.Form != want {
			t.Errorf("%s: the value of the key %q is written as %s, and docs/node-logs.md has %q", k.Place, k.Key, k.Form, want)
		}
	}
	for key := range documented {
		if !used[key] {
			t.Errorf("docs/node-logs.md has the key %q, which is not logged", key)
		}
	}
}

// A duration is text in every format.
func TestDurationsInTheLog(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, form := range []string{"json", "text"} {
		NewLogger(file, form, slog.LevelInfo).Info("shutdown complete", "took", 1500*time.Millisecond)
	}
	b, err := os.ReadFile(file.Name())
	if err != nil || !strings.Contains(string(b), `"took":"1.5s"`) || !strings.Contains(string(b), "took=1.5s ") {
		t.Errorf("logged: %s, %v", b, err)
	}
}

// Every message of level info and above has an event, and every event is documented.
func TestEvents(t *testing.T) {
	v := readVocabulary(t)
	for _, place := range v.Foreign {
		t.Errorf("%s: a logger of package log has no events; use webLog", place)
	}
	logged := map[string]bool{}
	for _, c := range v.Calls {
		logged[c.Message] = true
		if c.Level != "Debug" && events[c.Message] == "" {
			t.Errorf("%s: the message %q has no event: add it to events.go and docs/node-logs.md", c.Place, c.Message)
		}
	}
	page, err := os.ReadFile("../../../docs/node-logs.md")
	if err != nil {
		t.Fatal(err)
	}
	for message, event := range events {
		if !logged[message] {
			t.Errorf("the message %q is not logged", message)
		}
		if !strings.Contains(string(page), "| `"+event+"` |") {
			t.Errorf("docs/node-logs.md has no row for %s", event)
		}
	}
}

// A filter that becomes overfull is logged, with figures and the beginning of a long name.
func TestOverfullInTheLog(t *testing.T) {
	var b strings.Builder
	e := newEngine(engine.Options{Overfull: overfullLogger(slog.New(eventlog.Handler{Handler: slog.NewJSONHandler(&b, nil), Events: events}))})
	f, _, err := e.Create(strings.Repeat("f", 1000), "bloom", umbel.Goal{Keys: 8, FPRate: 0.01}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ds := make([]umbel.Digest, 10_000) // which set every cell
	for i := range ds {
		ds[i] = f.Hasher().HashUint64(uint64(i))
	}
	if _, _, err := f.Add(make([]bool, len(ds)), ds); err != nil {
		t.Fatal(err)
	}
	f.Stats()
	f.Stats()
	const want = `"level":"WARN","msg":"filter is overfull","filter":"fff`
	if got := b.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, want) || !strings.Contains(got, `f","keys":128,"rate":1,"planned":0.01,"event":"filter-overfull"}`) || len(got) > 400 {
		t.Errorf("logged %q", got)
	}
}

func TestEventAttribute(t *testing.T) {
	var b strings.Builder
	log := slog.New(eventlog.Handler{Handler: slog.NewJSONHandler(&b, nil), Events: events})
	log.With("part", "store").Info("snapshot taken")
	log.Info("something else")
	lines := strings.Split(b.String(), "\n")
	if !strings.Contains(lines[0], `"event":"snapshot"`) || !strings.Contains(lines[0], `"part":"store"`) || strings.Contains(lines[1], "event") {
		t.Errorf("logged: %q", lines)
	}
}

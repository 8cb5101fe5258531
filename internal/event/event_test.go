package event_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// sources calls visit with each source file that logs and is no test, as one text.
func sources(t *testing.T, visit func(path, text string)) {
	t.Helper()
	for _, root := range []string{"../../share", "../../siblings", "../../cmd/internal"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			b, err := os.ReadFile(path)
			visit(path, string(b))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Every event is logged, and a page describes it; and the pages describe no other one.
func TestEventsAreDescribed(t *testing.T) {
	b, err := os.ReadFile("event.go")
	if err != nil {
		t.Fatal(err)
	}
	events := map[string]string{}
	for _, m := range regexp.MustCompile(`(\w+)\s+= of\("([a-z-]+)"\)`).FindAllStringSubmatch(string(b), -1) {
		events[m[2]] = m[1]
	}
	pages := ""
	for _, name := range []string{"node-logs", "cache", "siblings", "share", "webcaches", "nix"} {
		b, err := os.ReadFile("../../docs/" + name + ".md")
		if err != nil {
			t.Fatal(err)
		}
		pages += string(b)
	}
	described := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| ((?:`[a-z-]+`(?:, )?)+) \\| (?:DEBUG|INFO|WARN|ERROR)").FindAllStringSubmatch(pages, -1) {
		for _, m := range regexp.MustCompile("`([a-z-]+)`").FindAllStringSubmatch(row[1], -1) {
			described[m[1]] = true
			if events[m[1]] == "" {
				t.Errorf("a page describes the event %s, which does not exist", m[1])
			}
		}
	}
	logged := map[string]bool{}
	sources(t, func(_, text string) {
		for _, m := range regexp.MustCompile(`\bevent\.(\w+)`).FindAllStringSubmatch(text, -1) {
			logged[m[1]] = true
		}
	})
	for event, name := range events {
		if !described[event] {
			t.Errorf("no page describes the event %s", event)
		}
		if !logged[name] {
			t.Errorf("the event %s is not logged", event)
		}
	}
}

// Each message that is logged has an event, except those of level debug.
func TestMessagesHaveEvents(t *testing.T) {
	logs := regexp.MustCompile(`(?i)(?:log|log\(\)|\(\w*\.?log(?:, \w+)?\)|\(\w+(?:\.\w+)*\.log(?:, \w+)?\))\.(?:Info|Warn|Error)\(\s*"[^"]*"[,)]\s*(\S*)`)
	calls := 0
	sources(t, func(path, text string) {
		for _, m := range logs.FindAllStringSubmatch(text, -1) {
			if calls++; !strings.HasPrefix(m[1], "event.") && !strings.HasPrefix(m[1], "append(") && !strings.HasPrefix(m[1], "attrs...") {
				t.Errorf("%s: a message has no event: %s", path, m[0])
			}
		}
	})
	if calls < 100 {
		t.Errorf("%d messages were found, want 100 or more", calls)
	}
}

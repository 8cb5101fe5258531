package node

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/node/access"
)

// docs/node-commands.md lists every command in the row of the right that it needs for its keys.
func TestRightsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/node-commands.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Rights\n")
	section, _, _ = strings.Cut(section, "\n## ")
	documented := map[string]string{}
	for _, row := range regexp.MustCompile(`(?m)^\| (none|read|add|remove|admin) \|([^|]*)\|`).FindAllStringSubmatch(section, -1) {
		for _, name := range regexp.MustCompile("`([A-Z.]+(?: [A-Z-]+)?)`").FindAllStringSubmatch(row[2], -1) {
			name := strings.ToLower(strings.ReplaceAll(name[1], " ", "|"))
			if other, twice := documented[name]; twice {
				t.Errorf("%s is in the rows %s and %s", name, other, row[1])
			}
			documented[name] = row[1]
		}
	}
	c := testConfig(t)
	c.Cuckoo = true
	n := started(t, c)
	h, err := hashersOf(c)
	if err != nil {
		t.Fatal(err)
	}
	need := map[string][]string{}
	for name, cmd := range n.commands(h) {
		if cmd.Run == nil && cmd.RunAll == nil || strings.HasSuffix(name, "|help") { // the name of a group; lists of subcommands
			continue
		}
		right := "none"
		if cmd.Right != 0 {
			right = access.Right(cmd.Right).String()
		}
		need[right] = append(need[right], name)
		if documented[name] != right {
			t.Errorf("%s needs the right %s, and the page has %q", name, right, documented[name])
		}
		delete(documented, name)
	}
	if len(documented) > 0 {
		t.Errorf("no such commands: %v", slices.Sorted(maps.Keys(documented)))
	}
	if t.Failed() {
		for right, names := range need {
			slices.Sort(names)
			t.Logf("| %s | `%s` |", right, strings.ToUpper(strings.ReplaceAll(strings.Join(names, "` `"), "|", " ")))
		}
	}
}

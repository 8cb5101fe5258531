package filter_test

import (
	"os"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/filter"
)

// Every page that lists the kinds lists all of them, and every kind has its pages.
func TestDocumentsListAllKinds(t *testing.T) {
	pages := map[string]string{ // what each line of a page contains, with KIND for the name
		"../umbel.go":             "//   - KIND: ",
		"../README.md":            "filter/KIND`",
		"../docs/kinds/README.md": "[KIND](KIND.md)",
		"../docs/choosing.md":     "**KIND**",
		"../spec/kinds.md":        "[KIND](kinds/KIND.md)",
	}
	for page, entry := range pages {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range filter.All {
			if want := strings.ReplaceAll(entry, "KIND", k.Name); !strings.Contains(string(b), want) {
				t.Errorf("%s does not contain %q", page, want)
			}
		}
	}
	for _, k := range filter.All {
		for _, page := range []string{"../docs/kinds/" + k.Name + ".md", "../spec/kinds/" + k.Name + ".md"} {
			if _, err := os.Stat(page); err != nil {
				t.Error(err)
			}
		}
	}
}

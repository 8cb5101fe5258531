package filter_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/filter"
)

// Every page that lists the kinds lists all of them, and every kind has its pages.
func TestDocumentsListAllKinds(t *testing.T) {
	pages := map[string]string{ // what each line of a page contains, with KIND for the name
		"../umbel.go":             "//   - KIND: ",
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

// The page of the node lists the kinds that only set bits.
func TestNodeListsMonotoneKinds(t *testing.T) {
	b, err := os.ReadFile("../docs/node.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(b), "Kinds that only set bits (")
	list, _, _ = strings.Cut(list, ")")
	got := strings.Fields(strings.ReplaceAll(list, ",", " "))
	var want []string
	for _, k := range filter.All {
		if k.Monotone {
			want = append(want, k.Name)
		}
	}
	if !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))) {
		t.Errorf("docs/node.md lists %q as kinds that only set bits, want %q", got, want)
	}
}

// The tests of every kind run the conformance suite. The second kind of a package is named after the first:
// weighted-counting is in weighted.
func TestKindsRunTheSuite(t *testing.T) {
	kinds := map[string]int{} // by package
	for _, k := range filter.All {
		folder, _, _ := strings.Cut(k.Name, "-")
		kinds[folder]++
	}
	for folder, n := range kinds {
		names, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
		foreign, foreignErr := filepath.Glob(filepath.Join("foreign", folder, "*_test.go"))
		if err := errors.Join(err, foreignErr); err != nil {
			t.Fatal(err)
		}
		names = append(names, foreign...)
		var tests strings.Builder
		for _, name := range names {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			tests.Write(b)
		}
		for _, call := range []string{"filtertest.Run(", "filtertest.Fuzz(", "filtertest.Zero("} {
			if calls := strings.Count(tests.String(), call); calls < n {
				t.Errorf("%d tests in filter/%s call %s, want one for each of %d kinds: see the documentation of package filtertest",
					calls, folder, strings.TrimSuffix(call, "("), n)
			}
		}
	}
}

package arch

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestImports(t *testing.T) {
	packs, err := read("../..")
	if err != nil {
		t.Fatal(err)
	}
	if len(packs) < 10 {
		t.Fatalf("found %d packages, want more than ten: is this the repository?", len(packs))
	}
	for _, p := range check(packs) {
		t.Error(p)
	}
	for _, p := range stale(packs) {
		t.Error(p)
	}
}

// check returns what is wrong with packs, each with the reason why it is.
func check(packs []pack) []string {
	modules := make(map[string]string)
	for _, p := range packs {
		modules[p.path] = p.module
	}
	var problems []string
	for _, p := range packs {
		here, ok := floorOf(p.path, p.module)
		if !ok {
			problems = append(problems, fmt.Sprintf("package %s is on no floor: give it one in internal/arch/floors_test.go", p.path))
			continue
		}
		for _, f := range p.files {
			for _, i := range f.imports {
				module, ours := modules[i]
				why := ""
				switch {
				case i == p.path: // its own external test
				case ours:
					why = inside(p, here, f, i, module)
				default:
					why = outside(p, here, f, i)
				}
				if why != "" {
					problems = append(problems, fmt.Sprintf("%s imports %s: %s", f.name, i, why))
				}
			}
			if len(f.goroutines) > 0 && !f.test() && here.number < pure && mayStartGoroutines[p.path] == "" {
				problems = append(problems, fmt.Sprintf("%s: below floor %v nothing starts a goroutine unasked: "+
					"return the work to the caller, or list %s in mayStartGoroutines with the reason", f.goroutines[0], float64(pure), p.path))
			}
		}
	}
	return problems
}

// inside tells why a file may not import another package of the repository, "" if
// it may.
func inside(p pack, here floor, f file, path, module string) string {
	there, ok := floorOf(path, module)
	switch {
	case !ok:
		return "" // said of that package itself
	case f.test() && slices.Contains(testUpward, path):
		return ""
	case f.example() && there.number <= pure:
		return "" // shows a package as its users meet it, with those that stand on it
	case slices.Contains(blind, p.path) && (path == "filter" || strings.HasPrefix(path, "filter/")) && !f.test():
		return fmt.Sprintf("%s gets the kinds it handles as a value, umbel.Variants, and knows none", p.path)
	case there.number == here.number:
		return fmt.Sprintf("both are on floor %v (%s), and packages of one floor don't know each other: "+
			"move what both need further down", here.number, here.what)
	case there.number > here.number:
		return fmt.Sprintf("from floor %v (%s) up to floor %v (%s), and imports go down only",
			here.number, here.what, there.number, there.what)
	}
	return ""
}

// outside tells why a file may not import a package from elsewhere, "" if it may.
func outside(p pack, here floor, f file, path string) string {
	first, _, _ := strings.Cut(path, "/")
	if !strings.Contains(first, ".") { // the standard library
		if slices.Contains(worldly, first) && here.number < pure && !f.test() {
			return fmt.Sprintf("below floor %v nothing has to do with files, clocks, networks or logs: take a value or a reader", float64(pure))
		}
		return ""
	}
	for library, owner := range owners {
		if within(path)(library) && p.path != owner {
			return fmt.Sprintf("only %s knows %s: say there what is needed", owner, library)
		}
	}
	if p.module != "." || slices.ContainsFunc(libraries, within(path)) {
		return ""
	}
	if f.test() && slices.ContainsFunc(testLibraries, within(path)) {
		return ""
	}
	return fmt.Sprintf("whoever imports the library gets hash libraries and no more, %v: put it into a module of its own", libraries)
}

// within returns a test for the module that a package lies in.
func within(path string) func(module string) bool {
	return func(module string) bool { return path == module || strings.HasPrefix(path, module+"/") }
}

// stale returns what the rules name and the repository hasn't, or name twice.
func stale(packs []pack) []string {
	have := make(map[string]bool)
	for _, p := range packs {
		have[p.path] = true
		have[p.module+"/..."] = true
	}
	var problems []string
	listed := make(map[string]bool)
	for _, f := range floors {
		for _, path := range f.packages {
			switch {
			case !have[path]:
				problems = append(problems, fmt.Sprintf("floor %v lists %s, which isn't there: take it out of internal/arch/floors_test.go", f.number, path))
			case listed[path]:
				problems = append(problems, fmt.Sprintf("floor %v lists %s, which is listed before: take it out of internal/arch/floors_test.go", f.number, path))
			}
			listed[path] = true
		}
	}
	for _, path := range slices.Sorted(maps.Keys(mayStartGoroutines)) {
		if !have[path] {
			problems = append(problems, fmt.Sprintf("mayStartGoroutines lists %s, which isn't there", path))
		}
	}
	return problems
}

// Each rule finds what breaks it, and nothing else.
func TestRules(t *testing.T) {
	others := []pack{
		{path: ".", module: "."},
		{path: "cells", module: "."},
		{path: "plan", module: "."},
		{path: "filter", module: "."},
		{path: "filter/bloom", module: "."},
		{path: "filter/partitioned", module: "."},
		{path: "filter/filtertest", module: "."},
		{path: "bench", module: "bench"},
	}
	for _, c := range []struct {
		what, path, module string
		file               file
		want               string // in the one problem; "" if there is none
	}{
		{"downward", "wire", ".", file{name: "a.go", imports: []string{".", "cells", "fmt", "io/fs"}}, ""},
		{"upward", "wire", ".", file{name: "a.go", imports: []string{"filter/bloom"}}, "imports go down only"},
		{"sideways", "wire", ".", file{name: "a.go", imports: []string{"plan"}}, "don't know each other"},
		{"upward in a test", "wire", ".", file{name: "a_test.go", imports: []string{"filter/bloom"}}, "imports go down only"},
		{"the suite in a test", "filter/splitblock", ".", file{name: "a_test.go", imports: []string{"filter/filtertest"}}, ""},
		{"the suite elsewhere", "filter/splitblock", ".", file{name: "a.go", imports: []string{"filter/filtertest"}}, "imports go down only"},
		{"upward in an example", "wire", ".", file{name: "example_test.go", imports: []string{"filter/bloom"}}, ""},
		{"itself", "wire", ".", file{name: "a_test.go", imports: []string{"wire"}}, ""},
		{"on no floor", "filter/novel", ".", file{name: "a.go"}, "on no floor"},
		{"a clock", "wire", ".", file{name: "a.go", imports: []string{"time"}}, "clocks"},
		{"a network", "cells", ".", file{name: "a.go", imports: []string{"net/http"}}, "networks"},
		{"a clock in a test", "wire", ".", file{name: "a_test.go", imports: []string{"time"}}, ""},
		{"files, higher up", "cmd/internal/keys", "cmd", file{name: "a.go", imports: []string{"os"}}, ""},
		{"a goroutine", "probe", ".", file{name: "a.go", goroutines: []string{"a.go:1"}}, "goroutine"},
		{"a goroutine in a test", "probe", ".", file{name: "a_test.go", goroutines: []string{"a_test.go:1"}}, ""},
		{"a hash", "wire", ".", file{name: "a.go", imports: []string{"github.com/zeebo/xxh3"}}, ""},
		{"no hash", "wire", ".", file{name: "a.go", imports: []string{"github.com/klauspost/compress/zstd"}}, "hash libraries"},
		{"no hash, in another module", "bench", "bench", file{name: "a.go", imports: []string{"github.com/greatroar/blobloom"}}, ""},
		{"a test's library", "wire", ".", file{name: "a_test.go", imports: []string{"pgregory.net/rapid"}}, ""},
		{"a test's library elsewhere", "wire", ".", file{name: "a.go", imports: []string{"pgregory.net/rapid"}}, "hash libraries"},
		{"another's library", "cmd/internal/store", "cmd", file{name: "a.go", imports: []string{"github.com/nats-io/nats.go"}}, "only cmd/internal/oplog"},
		{"its own library", "cmd/internal/oplog", "cmd", file{name: "a.go", imports: []string{"github.com/nats-io/nats-server/v2/server"}}, ""},
		{"all of a module", "bench/deep", "bench", file{name: "a.go", imports: []string{"filter", "plan"}}, ""},
	} {
		t.Run(c.what, func(t *testing.T) {
			others := slices.DeleteFunc(slices.Clone(others), func(p pack) bool { return p.path == c.path })
			got := check(append(others, pack{c.path, c.module, []file{c.file}}))
			switch {
			case c.want == "" && len(got) > 0:
				t.Errorf("got %q, want nothing", got)
			case c.want != "" && (len(got) != 1 || !strings.Contains(got[0], c.want)):
				t.Errorf("got %q, want one with %q", got, c.want)
			}
		})
	}
}

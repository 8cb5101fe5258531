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
	for _, p := range slices.Concat(check(packs), stale(packs)) {
		t.Error(p)
	}
}

// check returns the violations of the rules in packs, each with its reason.
func check(packs []pack) []string {
	ours := make(map[string]bool)
	for _, p := range packs {
		ours[p.path] = true
	}
	var problems []string
	for _, p := range packs {
		here, ok := layerOf(p.path)
		if !ok {
			problems = append(problems, fmt.Sprintf("package %s is in no layer: add it to internal/arch/layers_test.go", p.path))
			continue
		}
		for _, f := range p.files {
			for _, i := range f.imports {
				why := ""
				switch {
				case i == p.path: // its own external test
				case ours[i]:
					why = checkInternal(p, here, f, i)
				default:
					why = checkExternal(p, here, f, i)
				}
				if why != "" {
					problems = append(problems, fmt.Sprintf("%s imports %s: %s", f.name, i, why))
				}
			}
			if len(f.goroutines) > 0 && !f.test() && isPure(here) && mayStartGoroutines[p.path] == "" {
				problems = append(problems, fmt.Sprintf("%s: packages up to layer %q start no goroutine: "+
					"return the work to the caller, or list %s in mayStartGoroutines with the reason", f.goroutines[0], lastPure, p.path))
			}
		}
	}
	return problems
}

// checkInternal returns why a file may not import another package of the repository,
// and "" if it may.
func checkInternal(p pack, here int, f file, path string) string {
	there, ok := layerOf(path)
	switch {
	case !ok:
		return "" // reported for that package itself
	case f.test() && slices.Contains(testSupport, path):
		return ""
	case f.example() && isPure(there):
		return "" // an example shows the package together with the packages that use it
	case slices.Contains(kindAgnostic, p.path) && matches("filter/...", path) && !f.test():
		return fmt.Sprintf("%s receives the kinds as a value of type umbel.Kinds and imports none", p.path)
	case there > here:
		return fmt.Sprintf("layer %q is above layer %q; a package imports its own and lower layers only", layers[there].name, layers[here].name)
	}
	return ""
}

// checkExternal returns why a file may not import a package of the standard library
// or of another module, and "" if it may.
func checkExternal(p pack, here int, f file, path string) string {
	first, _, _ := strings.Cut(path, "/")
	if !strings.Contains(first, ".") { // the standard library
		if slices.Contains(sideEffects, first) && isPure(here) && !f.test() && !slices.Contains(testSupport, p.path) && !(path == "log/slog" && f.describes()) {
			return fmt.Sprintf("packages up to layer %q don't use files, clocks, networks or logs: take a value or a reader", lastPure)
		}
		return ""
	}
	for library, packages := range owners {
		if matches(library+"/...", path) && !slices.Contains(packages, p.path) {
			return fmt.Sprintf("only %s may import %s: add what is needed there", strings.Join(packages, " and "), library)
		}
	}
	in := func(library string) bool { return matches(library+"/...", path) }
	forTests := f.test() || slices.Contains(testSupport, p.path)
	if p.module != "." || slices.ContainsFunc(libraries, in) || forTests && slices.ContainsFunc(testLibraries, in) {
		return ""
	}
	for library, packages := range partLibraries {
		if in(library) && slices.ContainsFunc(packages, func(pattern string) bool { return matches(pattern, p.path) }) {
			return ""
		}
	}
	return fmt.Sprintf("packages of the library module depend on hash libraries only, %v, except those in partLibraries", libraries)
}

// stale returns the packages that the rules name and that don't exist.
func stale(packs []pack) []string {
	have := make(map[string]bool)
	for _, p := range packs {
		have[p.path] = true
	}
	named := slices.Concat(slices.Collect(maps.Keys(mayStartGoroutines)), testSupport, kindAgnostic, slices.Concat(slices.Collect(maps.Values(owners))...),
		slices.Concat(slices.Collect(maps.Values(partLibraries))...))
	for _, l := range layers {
		named = append(named, l.packages...)
	}
	slices.Sort(named)
	var problems []string
	for _, pattern := range slices.Compact(named) {
		if !slices.ContainsFunc(packs, func(p pack) bool { return matches(pattern, p.path) }) {
			problems = append(problems, fmt.Sprintf("internal/arch/layers_test.go names %s, which does not exist", pattern))
		}
	}
	return problems
}

// TestRules checks that each rule reports its violation, and nothing else.
func TestRules(t *testing.T) {
	others := []pack{
		{path: ".", module: "."},
		{path: "cells", module: "."},
		{path: "plan", module: "."},
		{path: "filter", module: "."},
		{path: "filter/bloom", module: "."},
		{path: "filter/partitioned", module: "."},
		{path: "filter/filtertest", module: "."},
		{path: "research/bench", module: "research/bench"},
	}
	for _, c := range []struct {
		what, path, module string
		file               file
		want               string // part of the only problem; "" if there is none
	}{
		{"downward", "wire", ".", file{name: "a.go", imports: []string{".", "cells", "fmt", "io/fs"}}, ""},
		{"upward", "wire", ".", file{name: "a.go", imports: []string{"filter/bloom"}}, `layer "kinds" is above layer "formats"`},
		{"inside a layer", "wire", ".", file{name: "a.go", imports: []string{"plan"}}, ""},
		{"upward in a test", "wire", ".", file{name: "a_test.go", imports: []string{"filter/bloom"}}, "is above"},
		{"the suite in a test", "filter/foreign/splitblock", ".", file{name: "a_test.go", imports: []string{"filter/filtertest"}}, ""},
		{"the suite elsewhere", "filter/foreign/splitblock", ".", file{name: "a.go", imports: []string{"filter/filtertest"}}, "is above"},
		{"upward in an example", "wire", ".", file{name: "example_test.go", imports: []string{"filter/bloom"}}, ""},
		{"itself", "wire", ".", file{name: "a_test.go", imports: []string{"wire"}}, ""},
		{"in no layer", "novel", ".", file{name: "a.go"}, "in no layer"},
		{"a clock", "wire", ".", file{name: "a.go", imports: []string{"time"}}, "clocks"},
		{"a network", "multicast/inpacket", ".", file{name: "a.go", imports: []string{"net/http"}}, "networks"},
		{"a clock in a test", "wire", ".", file{name: "a_test.go", imports: []string{"time"}}, ""},
		{"files, higher up", "cmd/internal/files/keys", "cmd", file{name: "a.go", imports: []string{"os"}}, ""},
		{"a goroutine", "internal/probe", ".", file{name: "a.go", goroutines: []string{"a.go:1"}}, "goroutine"},
		{"a goroutine in a test", "internal/probe", ".", file{name: "a_test.go", goroutines: []string{"a_test.go:1"}}, ""},
		{"a hash", "wire", ".", file{name: "a.go", imports: []string{"github.com/zeebo/xxh3"}}, ""},
		{"no hash", "wire", ".", file{name: "a.go", imports: []string{"github.com/klauspost/compress/zstd"}}, "hash libraries"},
		{"signed heads", "share/web", ".", file{name: "a.go", imports: []string{"golang.org/x/mod/sumdb/note"}}, ""},
		{"signed heads elsewhere", "wire", ".", file{name: "a.go", imports: []string{"golang.org/x/mod/sumdb/note"}}, "hash libraries"},
		{"no hash, in another module", "research/bench", "research/bench", file{name: "a.go", imports: []string{"github.com/greatroar/blobloom"}}, ""},
		{"a test library", "wire", ".", file{name: "a_test.go", imports: []string{"pgregory.net/rapid"}}, ""},
		{"a test library elsewhere", "wire", ".", file{name: "a.go", imports: []string{"pgregory.net/rapid"}}, "hash libraries"},
		{"an owned library", "cmd/internal/durable/store", "cmd", file{name: "a.go", imports: []string{"github.com/gofrs/flock"}}, "only cmd/internal/durable/disk"},
		{"an owned library in its owner", "cmd/internal/durable/disk", "cmd", file{name: "a.go", imports: []string{"github.com/gofrs/flock"}}, ""},
		{"a kind in the engine", "cmd/internal/engine", "cmd", file{name: "a.go", imports: []string{"filter/bloom"}}, "umbel.Kinds"},
		{"a kind in a test of the engine", "cmd/internal/engine", "cmd", file{name: "a_test.go", imports: []string{"filter/bloom"}}, ""},
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

// TestLayerOf checks that the longest pattern decides.
func TestLayerOf(t *testing.T) {
	for path, want := range map[string]string{
		"filter": "collections", "filter/bloom": "kinds", "internal/number": "arrays", "internal/arch": "research",
		"multicast/adaptive": "collections", "multicast/sim": "network", ".": "vocabulary",
	} {
		if i, ok := layerOf(path); !ok || layers[i].name != want {
			t.Errorf("%s: got layer %d, want %s", path, i, want)
		}
	}
	if i, ok := layerOf("filters"); ok {
		t.Errorf("filters: got layer %d, want none", i)
	}
}

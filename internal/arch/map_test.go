package arch

import (
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

// Each package is in a row of the map, ARCHITECTURE.md, or is below one of which the row says so, and each file to
// begin at exists.
func TestMap(t *testing.T) {
	page, err := os.ReadFile("../../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	listed, entries := readMap(string(page))
	for _, file := range entries {
		if _, err := os.Stat("../../" + file); err != nil {
			t.Errorf("the map names %s, which does not exist", file)
		}
	}
	if len(listed) < 80 || len(entries) < 30 {
		t.Fatalf("the map has %d packages and %d files, want more: it was not read", len(listed), len(entries))
	}
	all, err := read("../..")
	if err != nil {
		t.Fatal(err)
	}
	packages := 0
	for _, p := range all {
		if strings.HasPrefix(p.path, "tools") || strings.HasPrefix(p.path, "examples") || strings.HasPrefix(p.path, "docs") {
			continue
		}
		packages++
		if !isListed(listed, p.path) {
			t.Errorf("package %s is not in ARCHITECTURE.md", p.path)
		}
	}
	if packages < 150 {
		t.Errorf("%d packages were compared, want at least 150", packages)
	}
}

// names matches a name of a package or a file in a row.
var names = regexp.MustCompile("`([a-z0-9./_-]+)`")

// readMap returns the packages and the files that the tables of the map name. In a row the second name and the following ones
// are below the folder of the first, or in the same folder.
func readMap(page string) (listed map[string]bool, entries []string) {
	listed = make(map[string]bool)
	section := ""
	for line := range strings.Lines(page) {
		if title, ok := strings.CutPrefix(line, "## "); ok {
			section = strings.TrimSpace(title)
		}
		cells := strings.Split(line, "|")
		if len(cells) < 4 || section == "Architecture" || section == "" {
			continue
		}
		root := ""
		if section == "Programs" {
			root = "cmd/internal"
		}
		first := ""
		for _, m := range names.FindAllStringSubmatch(cells[1]+cells[2], -1) {
			if first == "" {
				first = path.Join(root, m[1])
				listed[first] = true
				continue
			}
			listed[path.Join(first, m[1])] = true
			listed[path.Join(path.Dir(first), m[1])] = true
			listed[path.Join(root, m[1])] = true
		}
		if len(cells) > 4 {
			for _, m := range names.FindAllStringSubmatch(cells[3], -1) {
				entries = append(entries, path.Join(root, m[1]))
			}
		}
	}
	return listed, entries
}

// wholes are folders whose row stands for everything below them.
var wholes = []string{"filter/foreign", "filter/internal", "wire/internal", "multicast/internal", "research/", "spec", "internal/hop", "internal/coding", "cmd/internal/files", "cmd/internal/durable"}

func isListed(listed map[string]bool, p string) bool {
	if listed[p] || strings.HasPrefix(p, "cmd/umbel") || p == "." && listed["."] {
		return true
	}
	for _, w := range wholes {
		if strings.HasPrefix(p, w) {
			return true
		}
	}
	return false
}

package arch

import "testing"

// mayNotLink lists packages with what they link neither directly nor by others: servers and clients do not have parts of the
// other product, so that each program is as small as what it does.
var mayNotLink = []struct{ packages, linked []string }{
	{
		[]string{"cmd/internal/report", "cmd/internal/http/httpapi", "cmd/internal/nix/substituter", "cmd/internal/node", "cmd/internal/webcache/cacheserver"},
		[]string{"multicast/...", "cmd/internal/files/parquetfile"},
	},
	{
		[]string{"cmd/internal/http/remote", "cmd/umbel-cache", "cmd/umbel-nix", "cmd/umbel-multicast"},
		[]string{
			"cmd/internal/node", "cmd/internal/engine", "cmd/internal/http/httpapi", "cmd/internal/durable/journal", "cmd/internal/durable/wal",
			"cmd/internal/durable/store", "cmd/internal/durable/snapshot", "cmd/internal/publish", "cmd/internal/publish/replica",
		},
	},
}

func TestLinks(t *testing.T) {
	packs, err := read("../..")
	if err != nil {
		t.Fatal(err)
	}
	imports := map[string][]string{}
	for _, p := range packs {
		for _, f := range p.files {
			if !f.test() {
				imports[p.path] = append(imports[p.path], f.imports...)
			}
		}
	}
	for _, rule := range mayNotLink {
		for _, name := range rule.packages {
			if imports[name] == nil {
				t.Errorf("%s has no imports: is it there?", name)
			}
			for path := range linkedBy(name, imports) {
				for _, pattern := range rule.linked {
					if matches(pattern, path) {
						t.Errorf("%s links %s", name, path)
					}
				}
			}
		}
	}
}

// linkedBy returns the packages that a package links.
func linkedBy(name string, imports map[string][]string) map[string]bool {
	linked := map[string]bool{}
	var link func(path string)
	link = func(path string) {
		if !linked[path] {
			linked[path] = true
			for _, i := range imports[path] {
				link(i)
			}
		}
	}
	link(name)
	return linked
}

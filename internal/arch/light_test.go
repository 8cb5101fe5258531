package arch

import (
	"os/exec"
	"strings"
	"testing"
)

// A program with filters of one kind links no package crypto: a hash or an ID that needs it is linked by who uses it.
func TestKindsLinkNoCrypto(t *testing.T) {
	cmd := exec.Command("go", "list", "-f", "{{.ImportPath}}{{range .Deps}} {{.}}{{end}}", "./filter/...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	kinds := 0
	for line := range strings.Lines(string(out)) {
		deps := strings.Fields(line)
		_, kind, _ := strings.Cut(deps[0], "/filter/")
		if kind == "" || strings.Contains(kind, "internal") || kind == "filtertest" || kind == "message" { // message measures deltas, which have IDs
			continue
		}
		kinds++
		for _, d := range deps {
			if first, _, _ := strings.Cut(d, "/"); first == "crypto" {
				t.Errorf("package filter/%s depends on %s", kind, d)
			}
		}
	}
	if kinds < 10 {
		t.Errorf("%d kinds, want at least 10: is this the repository?", kinds)
	}
}

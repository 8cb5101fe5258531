package remote

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// The client of a node links neither the engine nor the users of the server: it has the types of package api in common with it.
func TestClientLinksNoServer(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", ".")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	linked := strings.Fields(string(out))
	if !slices.Contains(linked, "github.com/umbel-filters/umbel/cmd/internal/http/api") {
		t.Fatal("the client does not link package api")
	}
	for _, name := range []string{"engine", "node/access", "http/httpapi"} {
		if slices.Contains(linked, "github.com/umbel-filters/umbel/cmd/internal/"+name) {
			t.Errorf("the client links %s", name)
		}
	}
}

package publications

import (
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/http/api"
)

// The error of the last update has a column of its own, if one failed.
func TestPeersError(t *testing.T) {
	list := []api.Subscription{{Filter: "words", State: "waiting"}}
	print := func() string {
		t.Helper()
		var b strings.Builder
		if err := writePeers(&b, list); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	if text := print(); strings.Contains(text, "Last error") {
		t.Errorf("without an error:\n%s", text)
	}
	list[0].Error = "connection refused"
	lines := strings.Split(print(), "\n")
	if at := strings.Index(lines[0], "Last error"); at < 0 || !strings.HasPrefix(lines[1][at:], "connection refused") {
		t.Errorf("want the error below its header:\n%s\n%s", lines[0], lines[1])
	}
}

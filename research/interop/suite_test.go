package interop

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/research/interop/internal/proc"
)

// TestGoRedisSuite runs go-redis' own tests of Bloom filters, as they lie in its module. One of
// those that it labels so is of CF.SCANDUMP, so the node serves CF.* as well.
func TestGoRedisSuite(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles go-redis' tests")
	}
	cmd := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/redis/go-redis/v9")
	dir, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	p, err := proc.Node(t.Context(), umbel, t.TempDir(), "--cuckoo-emulation")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	endpoints, err := json.Marshal(map[string]any{"db": map[string]any{"endpoints": []string{"redis://" + p.Addr}}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "endpoints.json")
	if err := os.WriteFile(path, endpoints, 0o600); err != nil {
		t.Fatal(err)
	}
	suite := exec.Command("go", "test", ".", "-count=1", "-run", "^TestGinkgoSuite$", "-ginkgo.label-filter=bloom || cuckoo", "-v")
	suite.Dir = strings.TrimSpace(string(dir))
	suite.Env = append(os.Environ(), "GOWORK=off", "RE_CLUSTER=true", "REDIS_VERSION=8.4", "REDIS_ENDPOINTS_CONFIG_PATH="+path)
	out, err := suite.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	ran := regexp.MustCompile(`Ran (\d+) of \d+ Specs`).FindSubmatch(out)
	if ran == nil || string(ran[1]) == "0" {
		t.Fatalf("no spec ran\n%s", out)
	}
	t.Logf("%s specs passed", ran[1])
}

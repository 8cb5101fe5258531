package node

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/umbel-filters/umbel/cmd/internal/node/access"
)

// packaged reads a file of cmd/packaging.
func packaged(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../packaging", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestPackagedSettings(t *testing.T) {
	c, _, err := loadWith(t, nil, nil, packaged(t, "umbel.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
}

func TestPackagedUsers(t *testing.T) {
	us, err := access.Load("../../packaging/users.yaml")
	if err != nil {
		t.Fatal(err)
	}
	shop, err := us.Password("shop", "shop")
	if err != nil {
		t.Fatal(err)
	}
	if !shop.May(access.Add, []byte("shop:1")) || shop.May(access.Add, []byte("public:1")) || us.Default() != nil {
		t.Error("users have other rights than the comments say")
	}
}

// Variables that files of packaging set are settings of nodes or of replicas.
func TestPackagedVariables(t *testing.T) {
	known, ofReplicas := pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
	Flags(known)
	ReplicaFlags(ofReplicas)
	ofReplicas.VisitAll(func(f *pflag.Flag) {
		if known.Lookup(f.Name) == nil {
			known.AddFlag(f)
		}
	})
	for _, name := range []string{"umbel.service", "image.json", "compose.yaml", "kubernetes.yaml", "group.conf"} {
		for _, v := range regexp.MustCompile(`UMBEL_[A-Z_]+`).FindAllString(packaged(t, name), -1) {
			if known.Lookup(strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(v, prefix)), "_", "-")) == nil {
				t.Errorf("%s: %s is no setting", name, v)
			}
		}
	}
	var compose struct{ Services map[string]any }
	if err := yaml.Unmarshal([]byte(packaged(t, "compose.yaml")), &compose); err != nil || compose.Services["umbel"] == nil {
		t.Errorf("compose.yaml: %v, %v", compose, err)
	}
}

// metricName is the name of a metric, without what histograms put behind it.
var metricName = regexp.MustCompile(`\b((?:umbel|bloom|process|go)_[a-z0-9_]+?)(?:_bucket|_sum|_count)?\b`)

// dashboardMetrics returns the metrics of the dashboard.
func dashboardMetrics(t *testing.T) map[string]bool {
	t.Helper()
	var dashboard struct {
		Title  string
		Panels []struct {
			ID      int
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal([]byte(packaged(t, "grafana.json")), &dashboard); err != nil {
		t.Fatal(err)
	}
	names, ids := map[string]bool{}, map[int]bool{}
	for _, p := range dashboard.Panels {
		if ids[p.ID] {
			t.Errorf("two panels have number %d", p.ID)
		}
		ids[p.ID] = true
		for _, target := range p.Targets {
			for _, m := range metricName.FindAllStringSubmatch(target.Expr, -1) {
				names[m[1]] = true
			}
		}
	}
	if len(names) < 20 {
		t.Errorf("the dashboard asks for %d metrics", len(names))
	}
	return names
}

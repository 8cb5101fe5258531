package node

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/umbel-filters/umbel/cmd/internal/redis/slots"
)

// at returns what is in a value of YAML at a path, such as "spec/containers/0"; nil if nothing is.
func at(v any, path string) any {
	for word := range strings.SplitSeq(path, "/") {
		switch have := v.(type) {
		case map[string]any:
			v = have[word]
		case []any:
			var i int
			if _, err := fmt.Sscan(word, &i); err != nil || i >= len(have) {
				return nil
			}
			v = have[i]
		default:
			return nil
		}
	}
	return v
}

// packagedObjects returns the objects of Kubernetes in a file, by kind and name.
func packagedObjects(t *testing.T, file string) map[string]any {
	t.Helper()
	all := map[string]any{}
	for d := yaml.NewDecoder(strings.NewReader(packaged(t, file))); ; {
		var o any
		switch err := d.Decode(&o); {
		case errors.Is(err, io.EOF):
			return all
		case err != nil:
			t.Fatal(err)
		case o != nil:
			all[fmt.Sprint(at(o, "kind"), " ", at(o, "metadata/name"))] = o
		}
	}
}

// settingsOf returns the settings of a node with variables.
func settingsOf(t *testing.T, environ []string) Config {
	t.Helper()
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	Flags(fs)
	c, _, err := load(Config{}, fs, func() []string { return environ })
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Validate(); err != nil {
		t.Errorf("%v: %v", environ, err)
	}
	return c
}

// The objects of kubernetes.yaml select the same Pods, each Pod starts with settings that are valid and with its address in the slot
// map, and the probes are pages of a node.
func TestPackagedKubernetes(t *testing.T) {
	all := packagedObjects(t, "kubernetes.yaml")
	set, budget := all["StatefulSet umbel"], all["PodDisruptionBudget umbel"]
	pod := at(set, "spec/template/spec")
	labels := at(set, "spec/template/metadata/labels")
	for name, got := range map[string]any{
		"set":      at(set, "spec/selector/matchLabels"),
		"budget":   at(budget, "spec/selector/matchLabels"),
		"service":  at(all["Service umbel"], "spec/selector"),
		"members":  at(all["Service "+fmt.Sprint(at(set, "spec/serviceName"))], "spec/selector"),
		"affinity": at(pod, "affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/0/labelSelector/matchLabels"),
	} {
		if labels == nil || !reflect.DeepEqual(got, labels) {
			t.Errorf("%s selects %v, and Pods have the labels %v", name, got, labels)
		}
	}
	if at(set, "spec/replicas") != 3 || at(budget, "spec/maxUnavailable") != 1 || at(all["Service umbel-members"], "spec/clusterIP") != "None" {
		t.Error("want 3 members, of which one may be away, and a Service with a name for each")
	}

	m, err := slots.Parse(strings.NewReader(fmt.Sprint(at(all["ConfigMap umbel"], "data/slots"))))
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Shards) != 1 || len(m.Shards[0].Nodes) != 3 {
		t.Fatalf("the slot map has %+v", m.Shards)
	}
	variables, _ := at(pod, "containers/0/env").([]any)
	for i, n := range m.Shards[0].Nodes {
		var environ []string
		for _, v := range variables {
			value := strings.ReplaceAll(fmt.Sprint(at(v, "value")), "$(POD_NAME)", fmt.Sprintf("umbel-%d", i))
			if name := fmt.Sprint(at(v, "name")); strings.HasPrefix(name, prefix) {
				environ = append(environ, name+"="+value)
			}
		}
		c := settingsOf(t, environ)
		if c.advertised() != n.Addr || n.URL != "https://"+n.Host()+c.HTTP || c.Log == "" {
			t.Errorf("member %d has the address %s and HTTP at %s, and the slot map has %+v", i, c.advertised(), c.HTTP, n)
		}
		if grace, _ := at(pod, "terminationGracePeriodSeconds").(int); float64(grace) < (c.DrainDelay+c.ShutdownTimeout).Seconds()+5 {
			t.Errorf("a Pod is killed after %d s, and an end takes up to %v", grace, c.DrainDelay+c.ShutdownTimeout)
		}
	}
	n := started(t, testConfig(t))
	for _, path := range []string{"livenessProbe/httpGet/path", "readinessProbe/httpGet/path"} {
		page := fmt.Sprint(at(pod, "containers/0/"+path))
		if status, _ := get(t, n, page); status != http.StatusOK || page == "/writable" {
			t.Errorf("%s: %s has status %d", path, page, status)
		}
	}
}

// The drop-in unit of a member has settings that are valid with those of umbel.yaml.
func TestPackagedMember(t *testing.T) {
	environ := []string{"UMBEL_CONFIG=../../packaging/umbel.yaml"}
	for _, v := range regexp.MustCompile(`(?m)^Environment=(.*)$`).FindAllStringSubmatch(packaged(t, "group.conf"), -1) {
		environ = append(environ, strings.ReplaceAll(v[1], "%H", "a.example"))
	}
	if c := settingsOf(t, environ); c.Log == "" || c.Advertise != "a.example:6380" || c.Users == "" {
		t.Errorf("%+v", c)
	}
	if !strings.Contains(packaged(t, "group.conf"), "\nExecStart=\nExecStart=") {
		t.Error("the drop-in does not replace the program of the unit")
	}
}

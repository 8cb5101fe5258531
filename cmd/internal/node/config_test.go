package node

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

// loadWith reads settings from flags, variables and a file's text.
func loadWith(t *testing.T, flags, environ []string, file string) (Config, Origins, error) {
	t.Helper()
	if file != "" {
		path := filepath.Join(t.TempDir(), "umbel.yaml")
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		environ = append(environ, "UMBEL_CONFIG="+path)
	}
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	Flags(fs)
	if err := fs.Parse(flags); err != nil {
		t.Fatal(err)
	}
	return load(Config{}, fs, func() []string { return environ })
}

// Flags come before the environment, that before the file, that before defaults; and the origin
// of each value is known.
func TestPrecedence(t *testing.T) {
	file := "data: from-file\nresp: from-file:1\nhttp: from-file:2\nbf-error-rate: 0.001\nmax-memory: 2GiB\nsnapshot-interval: 1m\npprof: true\n"
	c, origins, err := loadWith(t, []string{"--data", "from-flag"}, []string{"UMBEL_DATA=from-env", "UMBEL_RESP=from-env:1", "UMBEL_SNAPSHOT_BYTES=1MiB", "PATH=x"}, file)
	if err != nil {
		t.Fatal(err)
	}
	if c.Data != "from-flag" || c.RESP != "from-env:1" || c.HTTP != "from-file:2" || c.BFErrorRate != 0.001 || c.BFInitialSize != 100 ||
		c.MaxMemory.Bytes != 2<<30 || c.MaxMemory.Auto || c.SnapshotInterval != time.Minute || c.SnapshotBytes != 1<<20 || !c.Pprof {
		t.Errorf("got %+v", c)
	}
	want := map[string]string{"data": "flag --data", "resp": "environment UMBEL_RESP", "bf-initial-size": "default", "snapshot-bytes": "environment UMBEL_SNAPSHOT_BYTES"}
	seen := 0
	for _, o := range origins {
		if from, ok := want[o.Name]; ok {
			if seen++; o.From != from {
				t.Errorf("%s is from %q, want %q", o.Name, o.From, from)
			}
		}
		if o.Name == "http" && (!strings.HasPrefix(o.From, "file ") || !strings.HasSuffix(o.From, "umbel.yaml") || o.Value != "from-file:2") {
			t.Errorf("http: %+v", o)
		}
		if o.Usage == "" {
			t.Errorf("%s isn't explained", o.Name)
		}
	}
	if seen != len(want) {
		t.Errorf("%d of %d settings are there", seen, len(want))
	}
}

func TestLoadErrors(t *testing.T) {
	for _, c := range []struct {
		name    string
		environ []string
		file    string
		want    []string
	}{
		{"renamed in the file", nil, "hash: siphash", []string{"umbel.yaml: hash", "it is default-hash now"}},
		{"unknown in the file", nil, "durabilty: always", []string{"umbel.yaml: durabilty", "did you mean durability?"}},
		{"nested", nil, "resp: {listen: x}", []string{"umbel.yaml: resp", "want a single value"}},
		{"unknown variable", []string{"UMBEL_BF_EROR_RATE=1"}, "", []string{"UMBEL_BF_EROR_RATE", "did you mean bf-error-rate?"}},
		{"not of the words", nil, "durability: sometimes", []string{"durability", `"sometimes"`, "want always, everysec, none"}},
		{"no number", []string{"UMBEL_MAX_CLIENTS=many"}, "", []string{"UMBEL_MAX_CLIENTS", `"many"`}},
		{"no size", nil, "max-memory: 4kb", []string{"max-memory", "auto or none"}},
		{"a list", nil, "resp: [a, b]", []string{"resp", "want a single value"}},
		{"nothing", nil, "resp:", []string{"resp", "want a single value"}},
		{"no YAML", nil, "resp: [", []string{"umbel.yaml"}},
		{"no file", []string{"UMBEL_CONFIG=/nowhere/umbel.yaml"}, "", []string{"/nowhere/umbel.yaml"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := loadWith(t, nil, c.environ, c.file)
			if err == nil {
				t.Fatal("no error")
			}
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q lacks %q", err, part)
				}
			}
		})
	}
}

// What Kubernetes sets for a service of this name, and those with which the command connects to a node, are
// no settings.
func TestForeignVariables(t *testing.T) {
	_, _, err := loadWith(t, nil, []string{"UMBEL_SERVICE_HOST=10.0.0.1", "UMBEL_SERVICE_PORT_RESP=6380", "UMBEL_PORT=tcp://10.0.0.1:6380",
		"UMBEL_PORT_6380_TCP_ADDR=10.0.0.1", "UMBEL_ADDR=x", "UMBEL_CLIENT_TOKEN=x"}, "")
	if err != nil {
		t.Error(err)
	}
}

// Settings that would let strangers in are refused, and the error says what to do.
func TestReach(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Config)
		want   string // in the error; "" for none
	}{
		{"default", func(*Config) {}, ""},
		{"localhost", func(c *Config) { c.RESP, c.HTTP = "localhost:0", "[::1]:0" }, ""},
		{"mapped", func(c *Config) { c.RESP = "[::ffff:127.0.0.1]:0" }, ""},
		{"everywhere", func(c *Config) { c.RESP = ":6380" }, "accepts connections from other machines, but has no TLS (tls-cert and tls-key) and no users"},
		{"two addresses", func(c *Config) { c.RESP, c.HTTP = ":6380", ":8780" }, "accept connections from other machines, but have no TLS"},
		{"any", func(c *Config) { c.HTTP = "0.0.0.0:8780" }, "http (0.0.0.0:8780)"},
		{"a name", func(c *Config) { c.HTTP = "node.example:8780" }, "http (node.example:8780)"},
		{"metrics", func(c *Config) { c.Metrics = "[::]:9" }, "metrics ([::]:9)"},
		{"TLS alone", func(c *Config) { c.RESP, c.TLSCert, c.TLSKey = ":1", "c", "k" }, "no users"},
		{"users alone", func(c *Config) { c.RESP, c.Users = ":1", "u" }, "no TLS"},
		{"both", func(c *Config) { c.RESP, c.TLSCert, c.TLSKey, c.Users = ":1", "c", "k", "u" }, ""},
		{"insecure", func(c *Config) { c.RESP, c.AllowInsecureNetwork = ":1", true }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := DefaultConfig()
			c.change(&config)
			err := config.Validate()
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestValidate(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"nothing to serve":     func(c *Config) { c.RESP, c.HTTP = off, off },
		"no port":              func(c *Config) { c.RESP = "127.0.0.1" },
		"metrics nowhere":      func(c *Config) { c.Metrics = "on" },
		"key without cert":     func(c *Config) { c.TLSKey = "k" },
		"authorities alone":    func(c *Config) { c.TLSClientCA = "a" },
		"nobody signs":         func(c *Config) { c.TLSCert, c.TLSKey, c.TLSRequireClient = "c", "k", true },
		"rate":                 func(c *Config) { c.BFErrorRate = 1 },
		"capacity":             func(c *Config) { c.BFInitialSize = 0 },
		"expansion":            func(c *Config) { c.BFExpansionFactor = 1 << 16 },
		"no clients":           func(c *Config) { c.MaxClients = 0 },
		"negative time":        func(c *Config) { c.DrainDelay = -1 },
		"too little disk":      func(c *Config) { c.MaxDisk = leastDisk - 1 },
		"delay of a minute":    func(c *Config) { c.CommitDelay = time.Minute },
		"directory of no name": func(c *Config) { c.Data = "" },
	} {
		c := DefaultConfig()
		if change(&c); c.Validate() == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

// Any name in the Host header is allowed only if the setting says so, or if clients log in from other
// machines: browsers send any name.
func TestHosts(t *testing.T) {
	for _, c := range []struct {
		http, hosts, users string
		any                bool
		names              []string
	}{
		{"127.0.0.1:0", "", "", false, nil},
		{"127.0.0.1:0", "", "users.yaml", false, nil},
		{"127.0.0.1:0", "a.example, b.example", "", false, []string{"a.example", "b.example"}},
		{"127.0.0.1:0", "*", "", true, []string{"*"}},
		{":0", "", "", false, nil},
		{":0", "", "users.yaml", true, nil},
		{":0", "a.example", "users.yaml", false, []string{"a.example"}},
	} {
		config := DefaultConfig()
		config.HTTPHosts, config.Users = c.hosts, c.users
		if got := config.hosts(c.http); got.Any != c.any || !slices.Equal(got.Names, c.names) {
			t.Errorf("%+v: got %#v", c, got)
		}
	}
}

// The compose file publishes ports on 127.0.0.1 for a node without users: a page that has pointed its
// name at that address must not reach it, on no listener.
func TestRebinding(t *testing.T) {
	c := testConfig(t)
	c.HTTP, c.Metrics, c.AllowInsecureNetwork = ":0", ":0", true
	n := started(t, c)
	for _, l := range []net.Addr{n.HTTP(), n.Metrics()} {
		for host, want := range map[string]int{"evil.example": http.StatusMisdirectedRequest, "localhost:8780": http.StatusOK} {
			r, err := http.NewRequest("GET", fmt.Sprintf("http://127.0.0.1:%d/metrics", l.(*net.TCPAddr).Port), nil)
			if err != nil {
				t.Fatal(err)
			}
			if r.Host = host; l == n.HTTP() {
				r.URL.Path = "/v1/filters"
			}
			client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
			answer, err := client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			if answer.StatusCode != want {
				t.Errorf("%s as host %s: %d, want %d", r.URL, host, answer.StatusCode, want)
			}
		}
	}
}

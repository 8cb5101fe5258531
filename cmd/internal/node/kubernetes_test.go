package node

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"pgregory.net/rapid"
)

// serviceVariables returns the variables that Kubernetes sets for a Service with an address and ports, as kubelet does
// (pkg/kubelet/envvars: FromServices, and the links of Docker).
func serviceVariables(name string, host netip.Addr, ports []servicePort) (all []string) {
	prefix := strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
	set := func(suffix, value string) { all = append(all, prefix+suffix+"="+value) }
	set("_SERVICE_HOST", host.String())
	set("_SERVICE_PORT", fmt.Sprint(ports[0].number))
	for i, p := range ports {
		if p.name != "" {
			set("_SERVICE_PORT_"+strings.ToUpper(strings.ReplaceAll(p.name, "-", "_")), fmt.Sprint(p.number))
		}
		endpoint := strings.ToLower(p.protocol) + "://" + netip.AddrPortFrom(host, p.number).String()
		if i == 0 {
			set("_PORT", endpoint)
		}
		one := fmt.Sprintf("_PORT_%d_%s", p.number, p.protocol)
		set(one, endpoint)
		set(one+"_PROTO", strings.ToLower(p.protocol))
		set(one+"_PORT", fmt.Sprint(p.number))
		set(one+"_ADDR", host.String())
	}
	return all
}

type servicePort struct {
	name, protocol string
	number         uint16
}

// Variables of any Services of the namespace change no setting and stop no start.
func TestKubernetesServices(t *testing.T) {
	var words []string // of which names consist: those of settings, and those of Kubernetes' forms
	for _, c := range []Config{{}, {Replica: true}} {
		fs := pflag.NewFlagSet("", pflag.ContinueOnError)
		c.flags(fs)
		fs.VisitAll(func(f *pflag.Flag) { words = append(words, f.Name) })
	}
	words = append(words, "service", "host", "port", "80", "tcp", "udp", "addr", "proto", "client", "config", "cache", "x", "umbel")
	rapid.Check(t, func(t *rapid.T) {
		name := strings.Join(append([]string{"umbel"}, rapid.SliceOfN(rapid.SampledFrom(words), 0, 3).Draw(t, "service")...), "-")
		host := netip.AddrFrom4([4]byte{10, 0, 0, rapid.Byte().Draw(t, "host")})
		if rapid.Bool().Draw(t, "IPv6") {
			host = netip.MustParseAddr("fd00::").Next()
		}
		ports := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) servicePort {
			return servicePort{
				name:     rapid.OneOf(rapid.Just(""), rapid.SampledFrom(words), rapid.StringMatching("[a-z]([a-z0-9-]{0,13}[a-z0-9])?")).Draw(t, "name"),
				protocol: rapid.SampledFrom([]string{"TCP", "UDP", "SCTP"}).Draw(t, "protocol"),
				number:   rapid.Uint16Min(1).Draw(t, "number"),
			}
		}), 1, 4).Draw(t, "ports")
		environ := append([]string{"UMBEL_MAX_CLIENTS=77", "KUBERNETES_PORT=tcp://10.0.0.1:443"}, serviceVariables(name, host, ports)...)
		for _, replica := range []bool{false, true} {
			fs := pflag.NewFlagSet("", pflag.ContinueOnError)
			if replica {
				ReplicaFlags(fs)
			} else {
				Flags(fs)
			}
			_, origins, err := load(Config{Replica: replica}, fs, func() []string { return environ })
			if err != nil {
				t.Fatalf("the Service %s: %v", name, err)
			}
			for _, o := range origins {
				if (o.From != "default") != (o.Name == "max-clients") {
					t.Errorf("the Service %s: %s is %q from %s", name, o.Name, o.Value, o.From)
				}
			}
		}
	})
}

// A variable that only resembles those of Kubernetes is a wrong setting. The error names settings that it resembles, and
// none that it does not.
func TestWrongVariables(t *testing.T) {
	for variable, want := range map[string]string{
		"UMBEL_HTTP_PORT=8780":             "environment UMBEL_HTTP_PORT: unknown setting",
		"UMBEL_PORT=6380":                  "unknown setting",
		"UMBEL_CACHE_SERVICE_HOST=cache":   "umbel node config lists all settings",
		"UMBEL_CACHE_SERVICE_HOST=":        "umbel node config lists all settings",
		"UMBEL_CACHE_PORT_80_TCP=10.0.0.1": "umbel node config lists all settings",
		"UMBEL_MAX_MEMROY=1GiB":            "did you mean max-memory?",
		"UMBEL_BF_EXPANSION_FACTR=2":       "did you mean bf-expansion-factor?",
		"UMBEL_NOTHING_LIKE_A_SETTING=2":   "umbel node config lists all settings",
	} {
		_, _, err := loadWith(t, nil, []string{variable}, "")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", variable, err, want)
		}
	}
}

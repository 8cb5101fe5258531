package httpapi

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/node/access"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// users are one with each right alone over names that begin with a, and an administrator.
func users(t *testing.T) *access.Users {
	t.Helper()
	var b strings.Builder
	b.WriteString("users:\n")
	for _, right := range []string{"read", "add", "remove"} {
		fmt.Fprintf(&b, "- name: %s\n  tokens: [%q]\n  rules: [{rights: [%s], names: [\"a*\"]}]\n", right, access.HashToken(right), right)
	}
	fmt.Fprintf(&b, "- name: all\n  tokens: [%q]\n  rules: [{rights: [read, add, remove], names: [\"*\"]}]\n", access.HashToken("all"))
	fmt.Fprintf(&b, "- name: admin\n  tokens: [%q]\n  rules: [{rights: [read, add, remove, admin], names: [\"*\"]}]\n", access.HashToken("admin"))
	us, err := access.Parse([]byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return us
}

func as(token string) string { return "Authorization: Bearer " + token }

// Who lacks a right over the name is refused by each route that wants it, and the refusal
// is in the audit.
func TestRights(t *testing.T) {
	var audit bytes.Buffer
	n := serve(t, Options{Users: users(t), Audit: access.NewAudit(slog.New(slog.NewTextHandler(&audit, nil))), Profile: true,
		Metrics: http.NotFoundHandler()})
	n.want(n.ask("PUT", "/v1/filters/a", thousand, as("add")), 201)
	n.want(n.ask("PUT", "/v1/filters/b", thousand, as("admin")), 201)
	n.want(n.ask("PUT", "/v1/filters/a2", thousand, as("admin")), 201)
	keys := `{"keys":["x"]}`
	for _, c := range []struct {
		method, path, body, right string
	}{
		{"GET", "/v1/filters/NAME", "", "read"},
		{"POST", "/v1/filters/NAME/has", keys, "read"},
		{"POST", "/v1/filters/NAME/count", keys, "read"},
		{"POST", "/v1/filters/NAME/intersect", `{"name":"a"}`, "read"},
		{"POST", "/v1/filters/NAME/add", keys, "add"},
		{"POST", "/v1/filters/NAME/seal", "", "add"},
		{"POST", "/v1/filters/NAME/remove", keys, "remove"},
		{"POST", "/v1/filters/NAME/clear", "", "remove"},
		{"POST", "/v1/filters/NAME/fold", `{"factor":2}`, "remove"},
		{"POST", "/v1/filters/NAME/unfold", `{"factor":2}`, "remove"},
		{"POST", "/v1/filters/NAME/advance", `{"to":2}`, "remove"},
		{"POST", "/v1/filters/NAME/compact", "", "remove"},
		{"PATCH", "/v1/filters/NAME", `{"expires":null}`, "remove"},
	} {
		for _, user := range []string{"read", "add", "remove"} {
			for _, name := range []string{"a", "b"} {
				r := n.ask(c.method, strings.Replace(c.path, "NAME", name, 1), c.body, as(user))
				if allowed := user == c.right && name == "a"; (r.StatusCode == 403) == allowed {
					t.Errorf("%s %s of %s by %s: %s", c.method, c.path, name, user, r.Status)
				}
			}
		}
	}
	n.wantProblem(n.ask("PUT", "/v1/filters/b2", thousand, as("add")), 403, "denied")
	n.wantProblem(n.ask("POST", "/v1/filters/a/copy", `{"name":"a3"}`, as("read")), 403, "denied")
	n.wantProblem(n.ask("POST", "/v1/filters/a/merge", `{"name":"b"}`, as("add")), 403, "denied")
	n.wantProblem(n.ask("POST", "/v1/filters/a/intersect", `{"name":"b"}`, as("read")), 403, "denied")
	n.wantProblem(n.ask("PATCH", "/v1/filters/a", `{"name":"a4"}`, as("remove")), 403, "denied")
	for _, path := range []string{"/v1/backup", "/debug/pprof/", "/debug/pprof/cmdline", "/metrics"} {
		n.wantProblem(n.ask("GET", path, "", as("read")), 403, "denied")
	}
	n.wantProblem(n.ask("POST", "/v1/snapshot", "", as("all")), 403, "denied")
	n.want(n.ask("GET", "/debug/pprof/cmdline", "", as("admin")), 200)
	n.want(n.ask("GET", "/v1/filters", "", as("read")), 200, `"a"`, `"a2"`)
	if r := n.ask("GET", "/v1/filters", "", as("read")); strings.Contains(r.body, `"b"`) {
		t.Errorf("a filter is listed that the user may not read: %s", r.body)
	}

	// A container that takes a filter's place needs the right to remove what was there.
	b, _ := n.container("a", as("admin"))
	n.wantProblem(n.ask("PUT", "/v1/filters/a2", b, as("add"), "Content-Type: "+api.MediaContainer), 403, "denied")
	n.want(n.ask("PUT", "/v1/filters/a5", b, as("add"), "Content-Type: "+api.MediaContainer), 201)

	for _, want := range []string{"outcome=refused", "user=read", `action="GET /v1/backup"`, "user=admin", `action="GET /debug/pprof/cmdline"`} {
		if !strings.Contains(audit.String(), want) {
			t.Errorf("the audit has no %s", want)
		}
	}
}

// A failed login is in the audit with the name that was claimed. A request without credentials is not: many
// clients begin with one.
func TestFailedLoginsAreAudited(t *testing.T) {
	var audit bytes.Buffer
	n := serve(t, Options{Users: users(t), Audit: access.NewAudit(slog.New(slog.NewTextHandler(&audit, nil)))})
	path := "/v1/filters/" + strings.Repeat("n", 10_000)
	n.wantProblem(n.ask("GET", path, ""), 401, "unauthorized")
	if audit.Len() > 0 {
		t.Errorf("a request without credentials is recorded: %.300s", audit.String())
	}
	for header, want := range map[string]string{
		"Authorization: Basic c2hvcDpw":      "user=shop client=", // shop:p
		"Authorization: Bearer nobody":       `user="" client=`,
		"Authorization: Digest response=\"x": `error="invalid Authorization header; use Bearer, Basic or a client certificate, not \"Digest\""`,
	} {
		audit.Reset()
		n.wantProblem(n.ask("GET", path, "", header), 401, "unauthorized")
		got := audit.String()
		for _, want := range []string{want, "level=WARN", "action=login target=http outcome=refused"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: the audit lacks %s: %s", header, want, got)
			}
		}
		if len(got) > 1000 {
			t.Errorf("%s: the audit has %d bytes", header, len(got))
		}
	}
}

func TestLogin(t *testing.T) {
	n := serve(t, Options{Users: users(t)})
	n.want(n.ask("GET", "/healthz", ""), 200)
	n.want(n.ask("GET", "/readyz", ""), 200)
	n.want(n.ask("GET", "/openapi.json", ""), 200)
	for what, header := range map[string]string{
		"nothing":        "X-Nothing: x",
		"another token":  as("nobody"),
		"no token":       "Authorization: Bearer",
		"a password":     "Authorization: Basic cmVhZDpyZWFk",
		"half a word":    "Authorization: Basic !",
		"another scheme": "Authorization: Digest x",
	} {
		r := n.wantProblem(n.ask("GET", "/v1/filters", "", header), 401, "unauthorized")
		if got := r.Header.Values("WWW-Authenticate"); len(got) != 2 {
			t.Errorf("%s: WWW-Authenticate %q, want Bearer and Basic", what, got)
		}
	}
	n.want(n.ask("GET", "/v1/filters", "", "Authorization: bearer read"), 200)
}

// The seed of SipHash is shown to nobody but administrators, in no answer and no error;
// and who doesn't know it can't choose cells.
func TestSecretSeeds(t *testing.T) {
	n := serve(t, Options{Users: users(t), Hasher: umbel.Hasher{Alg: umbel.SipHash, Seed: fixture.Seed(0x1122334455667788, 0x99aabbccddeeff00)}})
	const seed = "8877665544332211"
	n.want(n.ask("PUT", "/v1/filters/a", thousand, as("all")), 201, `"hash":"siphash"`, `"secretSeed":true`)
	n.want(n.ask("PUT", "/v1/filters/drawn", `{"keys":1000,"fpRate":0.01,"hash":"siphash","seed":"01"}`, as("all")), 201)
	n.want(n.ask("PUT", "/v1/filters/open", `{"keys":1000,"fpRate":0.01,"hash":"xxh3","seed":"0102"}`, as("all")), 201, `"seed":"01020000000000000000000000000000"`)
	container, _ := n.container("a", as("admin"))
	open, _ := n.container("open", as("all"))
	digests := strings.Repeat("d", 16)
	for _, c := range [][]string{
		{"GET", "/v1/filters/a", "", "Accept: " + api.MediaContainer},
		{"GET", "/v1/filters/a", "", "Accept: " + api.MediaContainer + ";form=packed"},
		{"GET", "/v1/filters/a", "", "Accept: " + api.MediaContainer, "If-None-Match: *"},
		{"POST", "/v1/filters/a/diff", container, "Content-Type: " + api.MediaContainer},
		{"POST", "/v1/filters/a/has", digests, "Content-Type: " + api.MediaDigests},
		{"POST", "/v1/filters/a/add", digests, "Content-Type: " + api.MediaDigests},
		{"POST", "/v1/filters/a/has", `{"digests":["00000000000000000000000000000000"]}`},
		{"GET", "/v1/filters/a", ""},
		{"GET", "/v1/filters", ""},
		{"POST", "/v1/filters/a/merge", `{"name":"open"}`},
		{"POST", "/v1/filters/a/merge", `{"name":"drawn"}`},
		{"POST", "/v1/filters/a/merge", open, "Content-Type: " + api.MediaContainer},
		{"POST", "/v1/filters/a/intersect", `{"name":"drawn"}`},
		{"POST", "/v1/filters/drawn/merge", `{"name":"a"}`},
		{"PUT", "/v1/filters/a", open, "Content-Type: " + api.MediaContainer, "If-Match: *"},
		{"POST", "/v1/filters/a/add", `{"keys":["x"]}`, "Umbel-Hash: xxh3"},
		{"POST", "/v1/plan", thousand},
	} {
		r := n.ask(c[0], c[1], c[2], append(c[3:], as("all"))...)
		if strings.Contains(strings.ToLower(r.body), seed) || strings.Contains(r.body, "\x88\x77\x66\x55") {
			t.Errorf("%s %s %s shows the seed: %s", c[0], c[1], c[3:], r.body)
		}
		if secret := len(c) > 3 && c[1] == "/v1/filters/a" && c[0] == "GET" || strings.Contains(c[1], "diff") || strings.Contains(c[2], "digests") || c[2] == digests; secret && r.StatusCode != 403 {
			t.Errorf("%s %s %s: %s, want 403", c[0], c[1], c[3:], r.Status)
		}
	}
	n.want(n.ask("POST", "/v1/filters/a/has", digests, "Content-Type: "+api.MediaDigests, as("admin")), 200)
	n.want(n.ask("GET", "/v1/filters/a", "", as("admin")), 200, seed)
	n.want(n.ask("POST", "/v1/filters/a/add", `{"keys":["x"]}`, as("add")), 200)
}

// Where there is no seed for it, SipHash gets one that nobody chose.
func TestSeedIsDrawn(t *testing.T) {
	n := serve(t, Options{})
	n.make("a", `{"keys":1000,"fpRate":0.01,"hash":"siphash"}`)
	n.make("b", `{"keys":1000,"fpRate":0.01,"hash":"siphash"}`)
	a, b := n.engine.Get([]byte("a")).Hasher(), n.engine.Get([]byte("b")).Hasher()
	if a.Seed == (umbel.Seed{}) || a == b {
		t.Errorf("the seeds are %v and %v", a.Seed, b.Seed)
	}
}

// A page of another site can't make a browser send requests, nor reach the server by a name of its own.
func TestOtherSites(t *testing.T) {
	n := serve(t, Options{Hosts: Hosts{Names: []string{"filters.example"}}})
	n.make("f", thousand)
	for _, headers := range [][]string{
		{"Origin: https://evil.example"}, {"Origin: null"}, {"Sec-Fetch-Site: cross-site"},
	} {
		n.wantProblem(n.ask("POST", "/v1/filters/f/add", "a", append(headers, "Content-Type: text/plain")...), 403, "cross-origin")
		n.wantProblem(n.ask("GET", "/v1/backup", "", headers...), 403, "cross-origin")
		n.wantProblem(n.ask("GET", "/v1/filters", "", headers...), 403, "cross-origin")
	}
	for host, status := range map[string]int{
		"evil.example": 421, "evil.example:80": 421, "": 421, "filters.example": 200, "Filters.example:8780": 200, "filters.example.": 200, "localhost:1": 200, "127.0.0.1": 200, "[::1]:8780": 200, "10.0.0.7:1": 200,
	} {
		r := httptest.NewRequest("GET", "/healthz", nil)
		r.Host = host
		w := httptest.NewRecorder()
		New(Options{Engine: n.engine, Hosts: Hosts{Names: []string{"filters.example"}}}).ServeHTTP(w, r)
		if w.Code != status {
			t.Errorf("host %q: %d, want %d", host, w.Code, status)
		}
	}
}

// seldom is a rate at which a client may make one request during a test.
const seldom = 1e-6

func TestRate(t *testing.T) {
	n := serve(t, Options{Rates: NewRates(seldom)})
	n.want(n.ask("GET", "/v1/filters", ""), 200)
	if r := n.wantProblem(n.ask("GET", "/v1/filters", ""), 429, "rate"); r.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	n.want(n.ask("GET", "/healthz", ""), 200)
	n.want(n.ask("GET", "/healthz", ""), 200)
}

func TestRates(t *testing.T) {
	rs := NewRates(seldom)
	for _, c := range []struct {
		addr string
		ok   bool
	}{
		{"192.0.2.1:1", true}, {"192.0.2.1:2", false}, {"192.0.2.2:1", true}, {"[::ffff:192.0.2.1]:1", false},
		{"[2001:db8::1]:1", true}, {"[2001:db8::2]:1", false}, {"[2001:db8:0:1::2]:1", true}, {"[fe80::1%eth0]:1", true}, {"[fe80::1%eth1]:1", false},
		{"@", true}, {"", false},
	} {
		if got := rs.of(c.addr).Allow(); got != c.ok {
			t.Errorf("%q: %v, want %v", c.addr, got, c.ok)
		}
	}
	for i := range 2 * maxClients {
		rs.of(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}).String())
	}
	if len(rs.byAddr) != maxClients || rs.recent.Len() != maxClients {
		t.Errorf("%d and %d clients are remembered, want %d", len(rs.byAddr), rs.recent.Len(), maxClients)
	}
	if NewRates(0).of("192.0.2.1:1") != nil {
		t.Error("a limit of 0 is one")
	}
}

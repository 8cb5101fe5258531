package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/umbel-filters/umbel/cmd/internal/durable/disk/disktest"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/report/messagetest"
	"github.com/umbel-filters/umbel/filter"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// node is a server whose answers are held against the document.
type node struct {
	*testing.T
	url    string
	engine *engine.Engine
	client *http.Client
}

// serve starts a server with the options, and an engine if they have none.
func serve(t *testing.T, o Options) *node {
	t.Helper()
	if o.Engine == nil {
		o.Engine = engine.New(engine.Options{Kinds: filter.All, Now: func() int64 { return 1 }})
	}
	if o.Dir == nil {
		o.Dir = disktest.NewDisk().Dir()
	}
	s := httptest.NewServer(New(o))
	t.Cleanup(s.Close)
	return &node{t, s.URL, o.Engine, s.Client()}
}

// reply is an answer.
type reply struct {
	*http.Response
	body string
}

// ask makes a request, with headers as "Name: value"; a body is JSON unless they say
// otherwise. The answer must be as the document
// says, and, unless it is a problem, so must the request.
func (n *node) ask(method, path, body string, headers ...string) reply {
	n.Helper()
	r, err := http.NewRequestWithContext(context.Background(), method, n.url+path, strings.NewReader(body))
	if err != nil {
		n.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Add(name, value)
	}
	if body != "" && r.Header.Get("Content-Type") == "" {
		r.Header.Set("Content-Type", api.MediaJSON)
	}
	answer, err := n.client.Do(r)
	if err != nil {
		n.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		n.Fatal(err)
	}
	r.Body = io.NopCloser(strings.NewReader(body))
	answer.Body = io.NopCloser(bytes.NewReader(b))
	if checkExchange != nil {
		checkExchange(n.T, r, answer)
	}
	var p api.Problem
	if answer.Header.Get("Content-Type") == api.MediaProblem && json.Unmarshal(b, &p) == nil {
		if fault := messagetest.Fault(p.Detail); fault != "" {
			n.Errorf("%s %s: %s: %s", method, path, fault, p.Detail)
		}
	}
	return reply{answer, string(b)}
}

// checkExchange compares an exchange with the OpenAPI document. It is nil with the tag noopenapi: the
// validator takes minutes to compile, and one build with it suffices.
var checkExchange func(t *testing.T, r *http.Request, answer *http.Response)

// want fails the test unless the answer has the status, and all texts are in its body.
func (n *node) want(r reply, status int, texts ...string) reply {
	n.Helper()
	if r.StatusCode != status {
		n.Fatalf("%s %s: %s, want %d: %s", r.Request.Method, r.Request.URL.Path, r.Status, status, r.body)
	}
	for _, text := range texts {
		if !strings.Contains(r.body, text) {
			n.Errorf("%s %s: %s, want %s in it", r.Request.Method, r.Request.URL.Path, r.body, text)
		}
	}
	return r
}

// wantProblem fails the test unless the answer is a problem of that type.
func (n *node) wantProblem(r reply, status int, word string, texts ...string) reply {
	n.Helper()
	n.want(r, status, append(texts, `"type":"/problems/`+word+`"`)...)
	if got := r.Header.Get("Content-Type"); got != api.MediaProblem {
		n.Errorf("content type %q, want %q", got, api.MediaProblem)
	}
	return r
}

// make makes a filter.
func (n *node) make(name, order string) {
	n.Helper()
	n.want(n.ask("PUT", api.FilterPath(name), order), http.StatusCreated)
}

const thousand = `{"keys":1000,"fpRate":0.01}`

func TestLife(t *testing.T) {
	n := serve(t, Options{})
	made := n.want(n.ask("PUT", "/v1/filters/words", `{"kind":"bloom","keys":1e3,"fpRate":0.01,"params":{"k":5}}`), 201, `"kind":"bloom"`, `"k":5`)
	if got := made.Header.Get("Location"); got != "/v1/filters/words" {
		t.Errorf("Location %q", got)
	}
	n.wantProblem(n.ask("PUT", "/v1/filters/words", thousand), 409, "exists")
	n.want(n.ask("GET", "/v1/filters/words", ""), 200, `"name":"words"`, `"hash":"xxh3"`, `"merge"`)
	if r := n.want(n.ask("HEAD", "/v1/filters/words", ""), 200); r.body != "" {
		t.Errorf("HEAD has a body: %q", r.body)
	}
	n.want(n.ask("POST", "/v1/filters/words/add", `{"keys":["a","b","a"]}`), 200, `{"answers":[true,true,false]}`)
	n.want(n.ask("POST", "/v1/filters/words/copy", `{"name":"other"}`), 201, `"name":"other"`)
	n.wantProblem(n.ask("POST", "/v1/filters/words/copy", `{"name":"other"}`), 409, "exists")
	n.want(n.ask("POST", "/v1/filters/words/copy", `{"name":"other","replace":true}`), 201)
	n.want(n.ask("POST", "/v1/filters/words/clear", ""), 200)
	n.want(n.ask("POST", "/v1/filters/words/has", `{"keys":["a"]}`), 200, `[false]`)
	n.want(n.ask("POST", "/v1/filters/words/merge", `{"name":"other"}`), 200)
	n.want(n.ask("POST", "/v1/filters/words/has", `{"keys":["a"]}`), 200, `[true]`)
	n.want(n.ask("POST", "/v1/filters/words/intersect", `{"name":"other"}`), 200, `"both":{"estimate":2`)
	n.want(n.ask("POST", "/v1/filters/words/fold", `{"factor":2}`), 200)
	n.want(n.ask("POST", "/v1/filters/words/unfold", `{"factor":2}`), 200)
	n.wantProblem(n.ask("POST", "/v1/filters/words/fold", `{"factor":1000003}`), 409, "mismatch")
	n.wantProblem(n.ask("POST", "/v1/filters/words/fold", `{}`), 400, "bad-request")
	n.wantProblem(n.ask("POST", "/v1/filters/words/advance", `{"to":1}`), 422, "unsupported")
	n.wantProblem(n.ask("POST", "/v1/filters/words/compact", ``), 422, "unsupported")
	n.wantProblem(n.ask("POST", "/v1/filters/words/count", `{"keys":["a"]}`), 422, "unsupported")
	n.wantProblem(n.ask("POST", "/v1/filters/words/remove", `{"keys":["a"]}`), 422, "unsupported")
	n.want(n.ask("PATCH", "/v1/filters/words", `{"name":"terms","expires":"2033-05-18T03:33:20Z"}`, "Content-Type: application/merge-patch+json"), 200, `"name":"terms"`, `"expires":"2033-05-18T03:33:20Z"`)
	n.want(n.ask("PATCH", "/v1/filters/terms", `{"expires":null}`), 200)
	if r := n.ask("GET", "/v1/filters/terms", ""); strings.Contains(r.body, "expires") {
		t.Errorf("it still expires: %s", r.body)
	}
	n.wantProblem(n.ask("PATCH", "/v1/filters/terms", `{"name":"other"}`), 409, "exists")
	n.wantProblem(n.ask("GET", "/v1/filters/words", ""), 404, "not-found", `"words`)
	n.want(n.ask("DELETE", "/v1/filters/terms", ""), 204)
	n.wantProblem(n.ask("DELETE", "/v1/filters/terms", ""), 404, "not-found")
}

// Descriptions and lists have the plan of a filter, and whether it has too many keys.
func TestPlanned(t *testing.T) {
	n := serve(t, Options{})
	n.want(n.ask("PUT", "/v1/filters/words", `{"keys":10,"fpRate":0.01}`), 201, `"planned":{"keys":10,"fpRate":0.01,"overfull":false}`)
	var keys []string
	for i := range 100 {
		keys = append(keys, fmt.Sprintf("%q", fmt.Sprint(i)))
	}
	n.want(n.ask("POST", "/v1/filters/words/add", `{"keys":[`+strings.Join(keys, ",")+`]}`), 200)
	const overfull = `"planned":{"keys":10,"fpRate":0.01,"overfull":true}`
	n.want(n.ask("GET", "/v1/filters/words", ""), 200, overfull)
	n.want(n.ask("GET", "/v1/filters", ""), 200, overfull)
	n.want(n.ask("POST", "/v1/filters/words/clear", ""), 200, `"overfull":false`)
	n.want(n.ask("PUT", "/v1/filters/words2", `{"params":{"k":2,"m":64}}`), 201)
	if r := n.ask("GET", "/v1/filters/words2", ""); strings.Contains(r.body, "planned") {
		t.Errorf("a filter of parameters alone has a plan: %s", r.body)
	}
}

func TestKindsOfTheirOwn(t *testing.T) {
	n := serve(t, Options{})
	n.make("counts", `{"kind":"counting","keys":100,"fpRate":0.01}`)
	n.want(n.ask("POST", "/v1/filters/counts/add", `{"keys":["a","a"]}`), 200, `[true,true]`)
	n.want(n.ask("POST", "/v1/filters/counts/count", `{"keys":["a","b"]}`), 200, `{"answers":[2,0]}`)
	n.want(n.ask("POST", "/v1/filters/counts/count", `{"keys":["a","b"]}`, "Prefer: return=minimal"), 200, `{"keys":2,"yes":1,"sum":2}`)
	n.want(n.ask("POST", "/v1/filters/counts/remove", `{"keys":["a","b"]}`), 200, `[true,false]`)
	n.make("grows", `{"kind":"scalable","keys":100,"fpRate":0.01}`)
	n.want(n.ask("POST", "/v1/filters/grows/compact", `{"fpRate":0.05}`), 200)
	n.make("passes", `{"kind":"window","keys":100,"fpRate":0.01}`)
	n.make("fixed", `{"kind":"ribbon","keys":100,"fpRate":0.01}`)
	n.want(n.ask("POST", "/v1/filters/fixed/seal", ``), 200)
}

// Names are any bytes.
func TestNames(t *testing.T) {
	n := serve(t, Options{})
	for _, name := range []string{"a b", "a/b", "..", ".", "…", "\xff\x00", "a//b", "%2F", "add", "a?b#c", "+"} {
		n.make(name, thousand)
		n.want(n.ask("POST", api.FilterPath(name)+"/add", `{"keys":["x"]}`), 200, `[true]`)
		if n.engine.Get([]byte(name)) == nil {
			t.Errorf("%q isn't there by its name", name)
		}
		var in api.Info
		r := n.want(n.ask("GET", api.FilterPath(name), ""), 200)
		if err := json.Unmarshal([]byte(r.body), &in); err == nil && in.Path != api.FilterPath(name) {
			t.Errorf("%q has the path %q, want %q", name, in.Path, api.FilterPath(name))
		}
	}
	n.want(n.ask("GET", "/v1/filters?prefix=%FF", ""), 200, `"nameBase64":"/wA="`, `"path":"/v1/filters/%FF%00"`)
	n.want(n.ask("POST", "/v1/filters/add/merge", `{"nameBase64":"/wA="}`), 200)
	n.wantProblem(n.ask("PUT", "/v1/filters/"+strings.Repeat("x", 513), thousand), 400, "bad-request")
}

func TestList(t *testing.T) {
	n := serve(t, Options{})
	for i := range 10 {
		n.make(fmt.Sprintf("a%d", i), thousand)
		n.make(fmt.Sprintf("b%d", i), thousand)
	}
	seen := map[string]bool{}
	for cursor, pages := "", 0; ; pages++ {
		path := "/v1/filters?prefix=a&limit=3"
		if cursor != "" {
			path += "&cursor=" + cursor
		}
		var p api.Page
		r := n.want(n.ask("GET", path, ""), 200)
		if err := json.Unmarshal([]byte(r.body), &p); err != nil {
			t.Fatal(err)
		}
		if len(p.Filters) > 3 {
			t.Errorf("a page of %d filters, want at most 3", len(p.Filters))
		}
		for _, f := range p.Filters {
			seen[*f.Name] = true
		}
		if cursor = p.Cursor; cursor == "" {
			break
		}
		if !strings.Contains(r.Header.Get("Link"), "cursor="+cursor) {
			t.Errorf("Link %q, want the cursor %s in it", r.Header.Get("Link"), cursor)
		}
		if pages > 20 {
			t.Fatal("the walk doesn't end")
		}
	}
	if len(seen) != 10 {
		t.Errorf("%d filters were seen, want 10: %v", len(seen), seen)
	}
	for _, q := range []string{"limit=0", "limit=10001", "limit=x", "cursor=-1"} {
		n.wantProblem(n.ask("GET", "/v1/filters?"+q, ""), 400, "bad-request")
	}
}

func TestOrders(t *testing.T) {
	n := serve(t, Options{})
	for _, c := range []struct {
		what, order string
		status      int
		word        string
	}{
		{"nothing", ``, 422, "goal"},
		{"no JSON", `keys=3`, 400, "bad-request"},
		{"two values", thousand + thousand, 400, "bad-request"},
		{"another field", `{"rate":0.01,"keys":3}`, 400, "bad-request"},
		{"a rate of 2", `{"fpRate":2,"keys":3}`, 422, "goal"},
		{"a rate of 0", `{"fpRate":0,"keys":3}`, 422, "goal"},
		{"a rate below that of a hash", `{"fpRate":1e-31,"keys":3}`, 422, "goal"},
		{"a rate that is 0 as a float64", `{"fpRate":1e-400,"keys":3}`, 422, "goal"},
		{"a kind that isn't there", `{"kind":"cuckoo","fpRate":0.1,"keys":3}`, 422, "kind"},
		{"a parameter that isn't there", `{"params":{"x":1},"fpRate":0.1,"keys":3}`, 422, "goal"},
		{"half a parameter", `{"params":{"k":1.5},"fpRate":0.1,"keys":3}`, 422, "goal"},
		{"a hash that isn't there", `{"hash":"crc","fpRate":0.1,"keys":3}`, 422, "goal"},
		{"a seed that is too long", `{"hash":"xxh3","seed":"000000000000000001","fpRate":0.1,"keys":3}`, 422, "goal"},
		{"minus one key", `{"keys":-1,"fpRate":0.1}`, 400, "bad-request"},
		{"too many keys", `{"keys":1e12,"fpRate":0.1}`, 507, "memory"},
	} {
		t.Run(c.what, func(t *testing.T) {
			n := *n
			n.T = t
			n.engine.SetMaxMemory(1 << 20)
			n.wantProblem(n.ask("PUT", "/v1/filters/x", c.order), c.status, c.word)
		})
	}
	n.wantProblem(n.ask("PUT", "/v1/filters/x", thousand, "Content-Type: text/csv"), 415, "media-type")
	n.wantProblem(n.ask("POST", "/v1/filters/x/fold", `{"factor":2}`, "Content-Type: text/plain"), 415, "media-type")
	n.want(n.ask("PUT", "/v1/filters/x", `{"kind":"redisbloom","keys":1000,"fpRate":0.01}`), 201, `"hash":"murmur64a"`) // as Redis has it
	n.want(n.ask("PUT", "/v1/filters/y", `{"kind":"redisbloom","keys":1000,"fpRate":0.01,"hash":"xxh3"}`), 201, `"hash":"xxh3"`)
}

func TestPlan(t *testing.T) {
	n := serve(t, Options{})
	n.want(n.ask("POST", "/v1/plan", thousand), 200, `"kind":"bloom"`, `"kind":"blocked"`)
	n.want(n.ask("POST", "/v1/plan", `{"kind":"bloom","keys":1000,"fpRate":0.01}`), 200, `"fits":true`)
	n.want(n.ask("POST", "/v1/plan", `{"kind":"bloom","keys":1000}`), 200, `"fpRate":0.0099`)
	n.wantProblem(n.ask("POST", "/v1/plan", `{"kind":"bloom","fpRate":0.01}`), 422, "goal")
	n.wantProblem(n.ask("POST", "/v1/plan", `{"kind":"x"}`), 422, "kind")
	n.want(n.ask("GET", "/v1/kinds", ""), 200, `"kind":"ribbon"`, `"word":"seal"`)
}

func TestNode(t *testing.T) {
	ready := fmt.Errorf("replaying the log")
	n := serve(t, Options{
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			io.WriteString(w, "up 1\n")
		}),
		Backup:   func(_ context.Context, w io.Writer) error { _, err := io.WriteString(w, "all"); return err },
		Snapshot: func(context.Context) error { return nil },
		Ready:    func() error { return ready },
		Writable: func() error { return fmt.Errorf("the disk is full") },
		Status:   func() api.Status { return api.Status{Version: "v1", Durability: "always"} },
	})
	n.want(n.ask("GET", "/healthz", ""), 200, "alive")
	if r := n.wantProblem(n.ask("GET", "/readyz", ""), 503, "not-ready", "replaying"); r.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	n.wantProblem(n.ask("GET", "/writable", ""), 503, "not-ready", "replaying")
	ready = nil
	n.wantProblem(n.ask("GET", "/writable", ""), 503, "read-only", "full")
	n.want(n.ask("GET", "/v1/status", ""), 200, `"version":"v1"`)
	n.want(n.ask("GET", "/metrics", ""), 200, "up 1")
	n.want(n.ask("GET", "/v1/backup", ""), 200, "all")
	n.want(n.ask("POST", "/v1/snapshot", ""), 204)
	bare := serve(t, Options{})
	bare.want(bare.ask("GET", "/readyz", ""), 200, "ready")
	bare.want(bare.ask("GET", "/writable", ""), 200, "writable")
	for _, path := range []string{"/metrics", "/v1/backup", "/v1/status"} {
		bare.wantProblem(bare.ask("GET", path, ""), 501, "absent")
	}
	bare.wantProblem(bare.ask("POST", "/v1/snapshot", ""), 501, "absent")
	if r := bare.wantProblem(bare.ask("POST", "/healthz", ""), 405, "method"); r.Header.Get("Allow") != "GET, HEAD" {
		t.Errorf("Allow %q", r.Header.Get("Allow"))
	}
	bare.wantProblem(bare.ask("GET", "/v2/filters", ""), 404, "no-path")
	bare.wantProblem(bare.ask("GET", "/debug/pprof/", ""), 404, "no-path")
}

// A backup that fails after it began must not look whole.
func TestBackupFails(t *testing.T) {
	n := serve(t, Options{Backup: func(_ context.Context, w io.Writer) error {
		if _, err := w.Write(make([]byte, 1<<20)); err != nil {
			return err
		}
		return fmt.Errorf("the disk is gone")
	}})
	answer, err := n.client.Get(n.url + "/v1/backup")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err == nil {
		t.Error("half a backup came as a whole one")
	}
}

package httpapi

import (
	"bufio"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
)

// browser is the Accept header of a browser.
const browser = "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

// A browser gets a page; curl and programs get the paths as JSON.
func TestIndex(t *testing.T) {
	n := serve(t, Options{})
	for _, accept := range []string{"Accept: */*", "Accept: application/json", "Accept: text/html;q=0.5, application/json"} {
		n.want(n.ask("GET", "/", "", accept), 200, `"filters":"/v1/filters"`, `"openapi":"/openapi.json"`)
	}
	r := n.want(n.ask("GET", "/", "", browser), 200, "<title>umbel</title>", "no filters that you may read", `href="/metrics"`, `href="/openapi.json"`)
	for name, want := range map[string]string{"Content-Type": "text/html; charset=utf-8", "X-Content-Type-Options": "nosniff", "Vary": "Accept", "Cache-Control": "no-store"} {
		if got := r.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if r := n.want(n.ask("HEAD", "/", "", browser), 200); r.body != "" {
		t.Errorf("HEAD has a body of %d bytes", len(r.body))
	}
	n.wantProblem(n.ask("GET", "/", "", "Accept: image/png"), 406, "not-acceptable")
	n.wantProblem(n.ask("POST", "/", "{}"), 405, "method")
}

// The policy allows the style of the page as it is sent, and the page needs nothing else.
func TestPagePolicy(t *testing.T) {
	n := serve(t, Options{})
	n.make("a", thousand)
	r := n.ask("GET", "/", "", browser)
	style := regexp.MustCompile(`(?s)<style>(.*)</style>`).FindStringSubmatch(r.body)
	sum := sha256.Sum256([]byte(style[1]))
	if policy := r.Header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none';") || !strings.Contains(policy, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'") {
		t.Errorf("the policy is %q", policy)
	}
	if found := regexp.MustCompile(`<script|<img|<link|<form|style=|\bon[a-z]+=|src=`).FindString(r.body); found != "" {
		t.Errorf("the page has %s, which the policy forbids", found)
	}
}

// A row has the fill, the keys and the rate next to the plan.
func TestPageFilters(t *testing.T) {
	n := serve(t, Options{})
	n.make("words", `{"keys":10,"fpRate":0.01}`)
	n.make("lost", thousand)
	n.engine.MarkLost(n.engine.Get([]byte("lost")).ID())
	var keys []string
	for i := range 50 {
		keys = append(keys, fmt.Sprintf(`"%d"`, i))
	}
	n.want(n.ask("POST", "/v1/filters/words/add", `{"keys":[`+strings.Join(keys, ",")+`]}`), 200)
	n.want(n.ask("GET", "/", "", browser), 200, `<a href="/v1/filters/words">words</a>`, `<meter min="0" max="1" value="0.`, `planned 10<`, `planned 1%<`, `>overfull<`, `>lost: every query returns true<`)
}

// Names of any bytes are text in the page.
func TestPageNames(t *testing.T) {
	n := serve(t, Options{})
	names := map[string]string{
		`<script>alert(1)</script>`:  `&lt;script&gt;alert(1)&lt;/script&gt;`,
		`"><img src=x onerror=a()>`:  `&#34;&gt;&lt;img src=x onerror=a()&gt;`,
		`javascript:alert(1)`:        `javascript:alert(1)`,
		"\u202egnp.exe":              `&#34;\u202egnp.exe&#34;`,
		"a\nb\x00":                   `&#34;a\nb\x00&#34;`,
		"\xff\xfe":                   `&#34;\xff\xfe&#34;`,
		strings.Repeat("ä", 200):     strings.Repeat("ä", 80) + "…",
		"{{.Filters}}":               "{{.Filters}}",
		strings.Repeat("x", 60_000):  strings.Repeat("x", 80) + "…",
		"":                           `&#34;&#34;`,
		"//evil.example/%2e%2e/'`\\": `//evil.example/%2e%2e/&#39;` + "`" + `\`,
	}
	for name := range names {
		if _, _, err := n.engine.Create(name, "bloom", umbel.Goal{Keys: 10, FPRate: 0.1}, nil); err != nil {
			t.Fatal(err)
		}
	}
	r := n.ask("GET", "/", "", browser)
	for name, want := range names {
		if !strings.Contains(r.body, ">"+want+"<") {
			t.Errorf("the page doesn't have %.40q as %.80s", name, want)
		}
	}
	if strings.Contains(r.body, "<script") || strings.Contains(r.body, "<img") || len(r.body) > 40_000 {
		t.Errorf("the page has %d bytes: %.3000s", len(r.body), r.body)
	}
	for _, link := range regexp.MustCompile(`<td><a href="([^"]*)"`).FindAllStringSubmatch(r.body, -1) {
		path := html.UnescapeString(link[1])
		if !strings.HasPrefix(path, "/v1/filters/") {
			t.Errorf("a link leads to %q", path)
			continue
		}
		n.want(n.ask("GET", path, ""), 200)
	}
}

// The page has the filters that the user may read, and nothing without a user.
func TestPageRights(t *testing.T) {
	n := serve(t, Options{Users: users(t)})
	for _, name := range []string{"a1", "b1"} {
		n.want(n.ask("PUT", "/v1/filters/"+name, thousand, as("admin")), 201)
	}
	for _, accept := range []string{browser, "Accept: */*"} {
		r := n.wantProblem(n.ask("GET", "/", "", accept), 401, "unauthorized")
		if r.Header.Get("Www-Authenticate") == "" {
			t.Error("a browser will not ask for a password")
		}
	}
	if r := n.want(n.ask("GET", "/", "", browser, as("read")), 200, ">a1<", "-u NAME:PASSWORD"); strings.Contains(r.body, "b1") {
		t.Error("the page has a filter that the user may not read")
	}
	n.want(n.ask("GET", "/", "", browser, as("add")), 200, "no filters that you may read")
	n.want(n.ask("GET", "/", "", browser, as("admin")), 200, ">a1<", ">b1<")
	n.wantProblem(n.ask("GET", "/", "", browser, "Sec-Fetch-Site: cross-site"), 403, "cross-origin")
}

// With many filters the page has the first ones, and their number. It does not measure a large filter.
func TestPageOfMany(t *testing.T) {
	n := serve(t, Options{})
	goal := umbel.Goal{Keys: 1, FPRate: 0.5}
	large, _, err := n.engine.Create("large", "bloom", umbel.Goal{Bytes: 1 << 20, FPRate: 0.01}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		if _, _, err := n.engine.Create(fmt.Sprint("filter ", i), "bloom", goal, nil); err != nil {
			t.Fatal(err)
		}
	}
	r := n.want(n.ask("GET", "/", "", browser), 200, "and 901 more", "not measured yet")
	if rows := strings.Count(r.body, "<td><a "); rows != pageFilters {
		t.Errorf("%d filters, want %d", rows, pageFilters)
	}
	large.Stats()
	if r := n.ask("GET", "/", "", browser); strings.Contains(r.body, "not measured yet") {
		t.Error("a filter that was measured has no figures")
	}
}

// The commands of the page work.
func TestPageExamples(t *testing.T) {
	n := serve(t, Options{})
	r := n.ask("GET", "/", "", browser)
	_, text, _ := strings.Cut(r.body, "<pre>")
	text, _, _ = strings.Cut(text, "</pre>")
	example := regexp.MustCompile(`^curl (?:-X (\w+) )?--json '(.*)' (http://[^/]+)(/\S+)$`)
	var answers []string
	for lines := bufio.NewScanner(strings.NewReader(html.UnescapeString(text))); lines.Scan(); {
		m := example.FindStringSubmatch(lines.Text())
		if m == nil || m[3] != n.url {
			t.Fatalf("the example is %q", lines.Text())
		}
		method := m[1]
		if method == "" {
			method = http.MethodPost
		}
		answer := n.ask(method, m[4], m[2])
		if answer.StatusCode >= 300 {
			t.Errorf("%s: %s", lines.Text(), answer.body)
		}
		answers = append(answers, strings.TrimSpace(answer.body))
	}
	if len(answers) != 3 || answers[2] != `{"answers":[true,false]}` {
		t.Errorf("the answers are %q", answers)
	}
}

// A slash at the end of the path of a list makes no difference.
func TestListsWithSlash(t *testing.T) {
	n := serve(t, Options{Engine: engine.New(engine.Options{})})
	for _, r := range (&handler{}).routes() {
		if _, path, _ := strings.Cut(r.pattern, " "); r.list {
			plain, slash := n.want(n.ask("GET", path, ""), 200), n.want(n.ask("GET", path+"/", ""), 200)
			if plain.body != slash.body {
				t.Errorf("%s/ returns %s, want %s", path, slash.body, plain.body)
			}
		}
	}
	n.wantProblem(n.ask("PUT", "/v1/filters/", thousand), 405, "method")
	n.wantProblem(n.ask("GET", "/v1/filters/a/", ""), 404, "no-path")
}

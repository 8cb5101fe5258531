package httpapi

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/publish"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/share"
)

// servePublications starts a server that publishes filters, which do not exist yet.
func servePublications(t *testing.T, serving context.Context, filters ...string) *node {
	t.Helper()
	dir := t.TempDir()
	e := engine.New(engine.Options{Kinds: filter.All, Now: func() int64 { return 1 }})
	set := publish.New(publish.Options{
		Engine: e, Directory: dir, Log: slog.New(slog.DiscardHandler),
		Wait: func(context.Context, engine.Position) error { return nil },
	})
	t.Cleanup(set.Close)
	var specs []publish.Spec
	for i, f := range filters {
		private, _, err := note.GenerateKey(rand.Reader, "example.org/publication")
		if err != nil {
			t.Fatal(err)
		}
		key := filepath.Join(dir, string(rune('a'+i))+".key")
		if err := os.WriteFile(key, []byte(private), 0o600); err != nil {
			t.Fatal(err)
		}
		specs = append(specs, publish.Spec{Filter: f, Key: key, Period: time.Hour})
	}
	if err := set.Apply(specs); err != nil {
		t.Fatal(err)
	}
	return serve(t, Options{Engine: e, Publications: set, Serving: serving})
}

// Each reply is as documented, and any name of a filter is possible.
func TestPublicationRoutes(t *testing.T) {
	n := servePublications(t, nil, "words", "a/b ../c")
	const base = "/v1/publications/"
	n.wantProblem(n.ask("POST", base+"words", ""), 404, "not-found")
	n.wantProblem(n.ask("GET", base+"words/head", ""), 404, "no-path")
	n.wantProblem(n.ask("GET", base+"none", ""), 404, "no-publication")
	n.make("words", `{"keys": 1000, "hash": "siphash"}`)
	n.wantProblem(n.ask("POST", base+"words", ""), 409, "secret-seed")
	n.want(n.ask("GET", base+"words", ""), 200, `"state":"secret-seed"`)
	n.want(n.ask("DELETE", "/v1/filters/words", ""), 204)
	n.make("words", `{"keys": 1000}`)
	n.want(n.ask("POST", base+"words", ""), 200, `{"version":1}`)
	n.make("a/b ../c", `{"keys": 1000}`)
	n.want(n.ask("POST", base+"a%2Fb%20..%2Fc", ""), 200, `{"version":1}`)
	n.want(n.ask("GET", base+"a%2Fb%20..%2Fc/head", ""), 200, "umbel publication 1\n")
	n.want(n.ask("GET", "/v1/publications", ""), 200, `"filter":"a/b ../c","path":"/v1/publications/a%2Fb%20..%2Fc"`, `"filter":"words"`)

	head := n.want(n.ask("GET", base+"words/head", ""), 200)
	n.want(n.ask("GET", base+"words/head", "", "If-None-Match: "+head.Header.Get("Etag")), 304)
	_, index, _ := strings.Cut(head.body, "\nindex ")
	object := strings.Fields(index)[1]
	whole := n.want(n.ask("GET", base+"words/objects/"+object, ""), 200)
	if got := share.RefOf([]byte(whole.body)); got.Hash.String() != object {
		t.Errorf("object %s has the hash %v", object, got.Hash)
	}
	part := n.want(n.ask("GET", base+"words/objects/"+object, "", "Range: bytes=3-7"), 206)
	if part.body != whole.body[3:8] {
		t.Errorf("the range is %q, want %q", part.body, whole.body[3:8])
	}
	n.want(n.ask("GET", base+"words/objects/"+object, "", "Range: bytes=100000-"), 416)
	n.wantProblem(n.ask("GET", base+"words/objects/publisher", ""), 404, "no-path")
	n.wantProblem(n.ask("GET", base+"words/objects/..%2Fhead", ""), 404, "no-path")
	n.wantProblem(n.ask("DELETE", base+"words", ""), 405, "method")
}

// A request that waits gets a new head at once, and the present one when the server ends.
func TestWaitForHead(t *testing.T) {
	serving, end := context.WithCancel(context.Background())
	defer end()
	n := servePublications(t, serving, "words")
	const path = "/v1/publications/words"
	n.make("words", `{"keys": 1000}`)
	n.want(n.ask("POST", path, ""), 200)
	first := n.want(n.ask("GET", path+"/head", ""), 200)
	wait := func(tag string) chan reply {
		got := make(chan reply, 1)
		go func() { got <- n.ask("GET", path+"/head?wait=45s&after="+strings.Trim(tag, `"`), "") }()
		return got
	}
	began := time.Now()
	next := wait(first.Header.Get("Etag"))
	n.want(n.ask("POST", "/v1/filters/words/add", `{"keys": ["a"]}`), 200)
	n.want(n.ask("POST", path, ""), 200, `{"version":2}`)
	second := <-next
	if n.want(second, http.StatusOK); second.body == first.body {
		t.Error("the reply is the old head")
	}
	last := wait(second.Header.Get("Etag"))
	select {
	case r := <-last:
		t.Errorf("a reply without a new head: %s", r.Status)
	case <-time.After(50 * time.Millisecond): // a reply that comes later would come too early, too
	}
	end()
	if r := n.want(<-last, http.StatusOK); r.body != second.body {
		t.Error("the reply is another head")
	}
	if took := time.Since(began); took > 40*time.Second {
		t.Errorf("the replies took %v", took)
	}
}

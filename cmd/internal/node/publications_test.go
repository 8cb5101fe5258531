package node

import (
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/umbel-filters/umbel/cmd/internal/publish"
	"github.com/umbel-filters/umbel/internal/await"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/share/web"
)

// newKey writes a private key and returns its file and its verifier.
func newKey(t *testing.T, name string) (file string, v note.Verifier) {
	t.Helper()
	private, public, err := note.GenerateKey(rand.Reader, name)
	if err != nil {
		t.Fatal(err)
	}
	if v, err = note.NewVerifier(public); err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "private.key")
	writeFile(t, file, private)
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	return file, v
}

// subscribe returns a subscriber of a publication of a node. token may be "".
func subscribe(t *testing.T, n *Node, filterName, token string, v note.Verifier) *share.Subscriber {
	t.Helper()
	transport := &http.Transport{DisableKeepAlives: true}
	client := &http.Client{Transport: transport}
	if token != "" {
		client.Transport = bearer{transport, token}
	}
	source, err := web.NewClient("http://"+n.HTTP().String()+"/v1/publications/"+filterName, web.ClientOptions{HTTP: client})
	if err != nil {
		t.Fatal(err)
	}
	s, err := share.NewSubscriber(t.Context(), share.SubscriberOptions{Source: source, Verifier: v, Kinds: n.engine.Kinds(), Stale: share.StaleError})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

type bearer struct {
	http.RoundTripper
	token string
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.RoundTripper.RoundTrip(r)
}

// A publication over all interfaces: commands, HTTP, status and metrics; and a reload.
func TestPublications(t *testing.T) {
	key, verifier := newKey(t, "example.org/words")
	c := testConfig(t)
	c.Publications = Publications{{Filter: "words", Key: key, Period: time.Hour}}
	n := started(t, c)
	r := dial(t, n, nil)
	r.Want("UM.PUBLISH words", `-ERR "words": no such filter`)
	r.Want("UM.PUBLISH others", "-ERR no publication")
	r.Want("UM.MAKE words bloom KEYS 100k RATE 1%", "+OK")
	r.Want("UM.ADD words a b c", "*3[:1, :1, :1]")
	r.Want("UM.PUBLISH words", ":1")
	r.Want("UM.PUBLISH words", ":1")
	r.Want("MULTI", "+OK")
	r.Want("UM.PUBLISH words", "-ERR Command not allowed inside a transaction")
	r.Want("DISCARD", "+OK")
	r.Want("UM.ADD words d", "*1[:1]")
	if answer, err := http.Post("http://"+n.HTTP().String()+"/v1/publications/words", "", nil); err != nil {
		t.Fatal(err)
	} else if b, _ := io.ReadAll(answer.Body); answer.StatusCode != http.StatusOK || string(b) != "{\"version\":2}\n" {
		t.Errorf("published: %s %s", answer.Status, b)
	}
	http.DefaultClient.CloseIdleConnections()
	s := subscribe(t, n, "words", "", verifier)
	if err := s.Update(t.Context()); err != nil {
		t.Fatal(err)
	}
	if h := s.View().Head(); h.Version != 2 || h.Kind != "bloom" {
		t.Errorf("version %d of kind %s, want version 2 of bloom", h.Version, h.Kind)
	}
	for path, want := range map[string]string{
		"/v1/status":             `"publications":[{"filter":"words"`,
		"/v1/publications":       `"publicKey":"example.org/words+`,
		"/v1/publications/words": `"state":"published","failures":0,"version":2`,
		"/metrics":               "\numbel_publication_version{filter=\"words\"} 2\n",
	} {
		if status, body := get(t, n, path); status != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s, want %s", path, status, body, want)
		}
	}
	for path, word := range map[string]string{"others/head": "no-publication", "words/objects/none": "no-path"} {
		if status, body := get(t, n, "/v1/publications/"+path); status != http.StatusNotFound || !strings.Contains(body, "/problems/"+word) {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}

	// SIGHUP ends one publication and begins another one.
	other, _ := newKey(t, "example.org/others")
	c.Publications = Publications{{Filter: "others", Key: other, Period: time.Hour}}
	if err := n.Reload(c); err != nil {
		t.Fatal(err)
	}
	r.Want("UM.PUBLISH words", "-ERR no publication")
	r.Want("BF.ADD others a", ":1")
	r.Want("UM.PUBLISH others", ":1")
	c.Publications = Publications{{Filter: "others", Key: other + ".missing"}}
	if err := n.Reload(c); err == nil {
		t.Error("a missing key is accepted")
	}
	r.Want("UM.PUBLISH others", ":1") // as before
	if got := n.currentConfig().Publications; len(got) != 1 || got[0].Key != other {
		t.Errorf("publications %v", got)
	}
}

// A start without the key fails and leaves nothing running.
func TestPublicationWithoutKey(t *testing.T) {
	c := testConfig(t)
	c.Publications = Publications{{Filter: "words", Key: filepath.Join(t.TempDir(), "none")}}
	if _, err := Start(t.Context(), c, slog.New(slog.DiscardHandler), nil); err == nil {
		t.Error("no error")
	}
}

// Everybody reads a public publication, others are for users who may read the filter, also in caches.
func TestPublicationRights(t *testing.T) {
	key, verifier := newKey(t, "example.org/words")
	openKey, openVerifier := newKey(t, "example.org/open")
	c := testConfig(t)
	c.Publications = Publications{{Filter: "words", Key: key, Period: time.Hour}, {Filter: "open", Key: openKey, Period: time.Hour, Public: true}}
	c.Users = filepath.Join(t.TempDir(), "users.yaml")
	writeFile(t, c.Users, strings.ReplaceAll(`users:
  - name: reader
    passwords: ["PASSWORD"]
    rules: [{rights: [read, add, remove], names: [words]}]
  - name: root
    passwords: ["PASSWORD"]
    rules: [{rights: [read, add, remove, admin], names: ["*"]}]
`, "PASSWORD", cheapHash(t, "secret")))
	n := started(t, c)
	root := dial(t, n, nil)
	root.Want("AUTH root secret", "+OK")
	for _, name := range []string{"words", "open"} {
		root.Want("BF.ADD "+name+" a", ":1")
		root.Want("UM.PUBLISH "+name, ":1")
	}
	reader := dial(t, n, nil)
	reader.Want("AUTH reader secret", "+OK")
	reader.Want("UM.PUBLISH words", "-NOPERM")
	if err := subscribe(t, n, "open", "", openVerifier).Update(t.Context()); err != nil {
		t.Errorf("a public publication without a user: %v", err)
	}
	if err := subscribe(t, n, "words", "", verifier).Update(t.Context()); err == nil {
		t.Error("a client without a user reads a publication that is not public")
	}
	ask := func(method, path, user string) *http.Response {
		t.Helper()
		req, err := http.NewRequest(method, "http://"+n.HTTP().String()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if user != "" {
			req.SetBasicAuth(user, "secret")
		}
		answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		return answer
	}
	for _, c := range []struct {
		method, path, user string
		status             int
		cache              string // beginning of Cache-Control
	}{
		{"GET", "words/head", "", 401, "no-store"},
		{"GET", "words/head", "reader", 200, "private,"},
		{"HEAD", "words/head", "reader", 200, "private,"},
		{"GET", "words", "", 401, "no-store"},
		{"GET", "open/head", "", 200, "public,"},
		{"GET", "open", "", 200, "no-store"},
		{"GET", "none/head", "", 401, "no-store"},
		{"GET", "none/head", "reader", 403, "no-store"},
		{"POST", "open", "", 401, "no-store"},
		{"POST", "words", "reader", 403, "no-store"},
		{"POST", "words", "root", 200, "no-store"},
		{"POST", "words/head", "root", 405, "no-store"},
	} {
		answer := ask(c.method, "/v1/publications/"+c.path, c.user)
		if got := answer.Header.Get("Cache-Control"); answer.StatusCode != c.status || !strings.HasPrefix(got, c.cache) {
			t.Errorf("%s %s as %q: %d with Cache-Control %q, want %d and %q", c.method, c.path, c.user, answer.StatusCode, got, c.status, c.cache)
		}
	}
}

// A shutdown does not wait for requests that wait for a head.
func TestShutdownWithWaitingSubscribers(t *testing.T) {
	key, _ := newKey(t, "example.org/words")
	c := testConfig(t)
	c.ShutdownTimeout = time.Minute
	c.Publications = Publications{{Filter: "words", Key: key, Period: time.Hour}}
	n, err := Start(t.Context(), c, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		t.Fatal(err)
	}
	r := dial(t, n, nil)
	r.Want("BF.ADD words a", ":1")
	r.Want("UM.PUBLISH words", ":1")
	url := "http://" + n.HTTP().String() + "/v1/publications/words/head"
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	first, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	first.Body.Close()
	tag := strings.Trim(first.Header.Get("Etag"), `"`)
	done := make(chan int, 1)
	go func() {
		answer, err := client.Get(url + "?wait=45s&after=" + tag)
		if err != nil {
			done <- 0
			return
		}
		defer answer.Body.Close()
		_, _ = io.Copy(io.Discard, answer.Body)
		done <- answer.StatusCode
	}()
	// Whether the request waits yet makes no difference.
	await.True(t, "the request is sent", func() bool { return n.httpAccepted.Load() >= 2 })
	began := time.Now()
	if err := n.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("the shutdown took %v", took)
	}
	if status := <-done; status != http.StatusOK && status != 0 {
		t.Errorf("status %d, want 200 or a closed connection", status)
	}
}

// The setting is a list in a file, and text elsewhere; what cannot be right is refused.
func TestPublicationSettings(t *testing.T) {
	want := publish.Spec{Filter: "words", Key: "k", Directory: "d", Period: 5 * time.Second, Valid: time.Minute, Public: true, Seed: true, Folds: []uint64{4, 16}}
	file := "publications:\n  - filter: words\n    key: k\n    directory: d\n    period: 5s\n    valid: 1m\n    public: true\n    publish-seed: true\n    folds: [4, 16]\n"
	fromFile, _, err := loadWith(t, nil, nil, file)
	if err != nil {
		t.Fatal(err)
	}
	text := fromFile.Publications.String()
	for name, c := range map[string]Config{"file": fromFile, "flag": must(loadWith(t, []string{"--publications", text}, nil, "")), "variable": must(loadWith(t, nil, []string{"UMBEL_PUBLICATIONS=" + text}, ""))} {
		if len(c.Publications) != 1 || !reflect.DeepEqual(c.Publications[0], want) {
			t.Errorf("%s: %+v, want %+v", name, c.Publications, want)
		}
	}
	for _, bad := range []string{"words", "[{filter: a}]", "[{filter: a, key: k, perid: 1s}]", "[{filter: a, key: k, period: 1}]", "[{filter: a, key: k, valid: 1ms}]", "[{filter: a, key: k, folds: [4, 6]}]", "{filter: a, key: k}"} {
		if _, _, err := loadWith(t, nil, nil, "publications: "+bad); err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
}

func must(c Config, _ Origins, err error) Config {
	if err != nil {
		panic(err)
	}
	return c
}

package remote

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"iter"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/backup"
	"github.com/umbel-filters/umbel/cmd/internal/durable/disk"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/engine/operation"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/http/httpapi"
	"github.com/umbel-filters/umbel/cmd/internal/node/access"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/hashtree"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// node is a server and a client of it that remembers what it sent.
type node struct {
	*Client
	server *httptest.Server
	mu     sync.Mutex
	sent   bytes.Buffer
}

func (n *node) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		n.mu.Lock()
		n.sent.Write(b)
		n.mu.Unlock()
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(b))
	}
	return http.DefaultTransport.RoundTrip(r)
}

func serve(t *testing.T, o httpapi.Options) *node {
	t.Helper()
	if o.Engine == nil {
		o.Engine = engine.New(engine.Options{Kinds: filter.All, Now: func() int64 { return 1 }})
	}
	o.Dir = disk.OS(t.TempDir())
	n := &node{server: httptest.NewServer(httpapi.New(o))}
	t.Cleanup(n.server.Close)
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	var err error
	if n.Client, err = New(n.server.URL, Options{}); err != nil {
		t.Fatal(err)
	}
	n.HTTP = &http.Client{Transport: n}
	return n
}

var thousand = api.FilterSpec{Keys: 1000, FPRate: 0.01}

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestFilters(t *testing.T) {
	ctx := t.Context()
	n := serve(t, httpapi.Options{})
	for _, name := range []string{"a", "b/c", "..", "\xff", "é "} {
		i := must(n.Make(ctx, name, thousand))(t)
		if i.Name != name || i.Kind != "bloom" || i.Cells == 0 {
			t.Errorf("made %+v", i)
		}
		if i = must(n.Info(ctx, name))(t); i.Name != name || i.K <= 0 {
			t.Errorf("there is %+v", i)
		}
	}
	names := map[string]bool{}
	for b, err := range n.List(ctx, "") {
		if err != nil {
			t.Fatal(err)
		}
		names[b.Name] = true
	}
	if len(names) != 5 || !names["\xff"] {
		t.Errorf("the list is %v", names)
	}
	must(n.Merge(ctx, "a", "\xff"))(t)
	if i := must(n.Copy(ctx, "a", "copy"))(t); i.Name != "copy" {
		t.Errorf("the copy is %+v", i)
	}
	if _, err := n.Copy(ctx, "a", "b/c"); word(err) != api.WordExists {
		t.Errorf("%v, want that it exists", err)
	}
	if o := must(n.Intersect(ctx, "a", "copy"))(t); o.Cells == 0 || o.Both.Estimate != 0 {
		t.Errorf("empty filters share %+v", o)
	}
	must(n.Do(ctx, "a", operation.Fold, umbel.Uint(2)))(t)
	must(n.Do(ctx, "a", operation.Unfold, umbel.Uint(2)))(t)
	must(n.Do(ctx, "a", operation.Clear, umbel.Number{}))(t)
	must(n.Make(ctx, "s", api.FilterSpec{Kind: "scalable", Keys: 1000, FPRate: 0.01}))(t)
	must(n.Do(ctx, "s", operation.Compact, umbel.Float(0.05)))(t)
	must(n.Make(ctx, "r", api.FilterSpec{Kind: "ribbon", Keys: 1000, FPRate: 0.01}))(t)
	must(n.Do(ctx, "r", operation.Seal, umbel.Number{}))(t)
	if err := n.Delete(ctx, "a"); err != nil {
		t.Error(err)
	}
	if err := n.Delete(ctx, "a"); word(err) != api.WordNotFound {
		t.Errorf("%v, want that it isn't there", err)
	}
}

// Keys are queried by their digests: none leaves the machine.
func TestKeys(t *testing.T) {
	ctx := t.Context()
	n := serve(t, httpapi.Options{})
	must(n.Make(ctx, "public", api.FilterSpec{Kind: "counting", Keys: 1000, FPRate: 0.001, Hash: "xxh3", Seed: new("0102")}))(t)
	must(n.Make(ctx, "caller", api.FilterSpec{Kind: "counting", Keys: 1000, FPRate: 0.001, Hash: "caller"}))(t)
	for name, keys := range map[string][]string{
		"public": {"apple", "pear\n", "\xff\xfe"},
		"caller": {"00000000000000010000000000000002", "00000000000000030000000000000004", "ffffffffffffffffffffffffffffffff"},
	} {
		f, _, err := n.Filter(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		checkKeys(t, f, keys)
	}
	for _, key := range []string{"apple", "pear"} {
		if strings.Contains(n.sent.String(), key) {
			t.Errorf("the key %s was sent", key)
		}
	}
}

// checkKeys does all there is to do with three keys.
func checkKeys(t *testing.T, f *Filter, keys []string) {
	t.Helper()
	var all [][]byte
	for _, k := range keys {
		all = append(all, []byte(k))
	}
	for _, c := range []struct {
		verb Verb
		keys [][]byte
		want []uint64
	}{
		{Add, all[:2], []uint64{1, 1}}, {Add, all[:1], []uint64{1}}, {Has, all, []uint64{1, 1, 0}}, {Count, all, []uint64{2, 1, 0}},
		{Remove, all, []uint64{1, 1, 0}}, {Has, all, []uint64{1, 0, 0}}, {Has, nil, []uint64{}},
	} {
		if got := must(f.Keys(t.Context(), c.verb, c.keys))(t); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s %q: %v, want %v", c.verb, c.keys, got, c.want)
		}
	}
}

// Where the seed is the node's secret keys are sent, and it is never shown.
func TestSecretSeed(t *testing.T) {
	users, err := access.Parse([]byte(fmt.Sprintf("users:\n- name: u\n  tokens: [%q]\n  rules: [{rights: [read, add, remove], names: [\"*\"]}]\n", access.HashToken("u"))))
	if err != nil {
		t.Fatal(err)
	}
	n := serve(t, httpapi.Options{Users: users})
	if _, err := n.Make(t.Context(), "f", thousand); word(err) != "unauthorized" {
		t.Errorf("%v, want to be refused", err)
	}
	n.Token = "u"
	must(n.Make(t.Context(), "f", api.FilterSpec{Kind: "counting", Keys: 1000, FPRate: 0.001, Hash: "siphash"}))(t)
	f, _, err := n.Filter(t.Context(), "f")
	if err != nil {
		t.Fatal(err)
	}
	if h, public := f.Hasher(); public {
		t.Errorf("the hasher is known: %v", h)
	}
	checkKeys(t, f, []string{"apple", "pear\n", "\xff\xfe"})
	if _, err := n.Get(t.Context(), "f", false, io.Discard); word(err) != "denied" {
		t.Errorf("%v, want to be refused", err)
	}
}

// A filter that was replaced by one with another hash is not queried with digests of the old one.
func TestFilterThatHashesOtherwise(t *testing.T) {
	ctx := t.Context()
	n := serve(t, httpapi.Options{})
	must(n.Make(ctx, "f", thousand))(t)
	f, _, err := n.Filter(ctx, "f")
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Delete(ctx, "f"); err != nil {
		t.Fatal(err)
	}
	must(n.Make(ctx, "f", api.FilterSpec{Keys: 1000, FPRate: 0.01, Hash: "md5"}))(t)
	if _, err := f.Keys(ctx, Has, [][]byte{[]byte("a")}); !errors.Is(err, umbel.ErrMismatch) {
		t.Errorf("%v, want a mismatch", err)
	}
}

// numbers yields n keys in batches, in memory that it uses again.
func numbers(n int, at error) iter.Seq2[[][]byte, error] {
	return func(yield func([][]byte, error) bool) {
		keys := make([][]byte, 1000)
		for from := 0; from < n; from += len(keys) {
			keys = keys[:min(len(keys), n-from)]
			for i := range keys {
				keys[i] = fmt.Appendf(keys[i][:0], "key %d", from+i)
			}
			if !yield(keys, nil) {
				return
			}
		}
		if at != nil {
			yield(nil, at)
		}
	}
}

// All keys are answered, in order, over many requests.
func TestEach(t *testing.T) {
	ctx := t.Context()
	n := serve(t, httpapi.Options{})
	const keys = 20_007
	must(n.Make(ctx, "f", api.FilterSpec{Keys: keys, FPRate: 0.001}))(t)
	f, _, err := n.Filter(ctx, "f")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Each(ctx, Add, numbers(keys, nil), nil); err != nil {
		t.Fatal(err)
	}
	next := 0
	err = f.Each(ctx, Has, numbers(keys, nil), func(batch [][]byte, ns []uint64) error {
		for i, key := range batch {
			if want := fmt.Sprintf("key %d", next); string(key) != want || ns[i] != 1 {
				return fmt.Errorf("%q is answered with %d, want %q with 1", key, ns[i], want)
			}
			next++
		}
		return nil
	})
	if err != nil || next != keys {
		t.Errorf("%d keys were answered, %v, want %d", next, err, keys)
	}

	ends := errors.New("no more")
	if err := f.Each(ctx, Has, numbers(keys, ends), nil); !errors.Is(err, ends) {
		t.Errorf("%v, want the error of the keys", err)
	}
	if err := f.Each(ctx, Has, numbers(keys, nil), func([][]byte, []uint64) error { return ends }); !errors.Is(err, ends) {
		t.Errorf("%v, want the error of who gets answers", err)
	}
	if err := n.Delete(ctx, "f"); err != nil {
		t.Fatal(err)
	}
	if err := f.Each(ctx, Has, numbers(keys, nil), nil); word(err) != api.WordNotFound {
		t.Errorf("%v, want that the filter isn't there", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	if err := f.Each(ctx, Has, numbers(keys, nil), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that it was given up", err)
	}
}

// Keys are answered as they arrive, and an error is reported although no more arrive.
func TestEachAsTheyCome(t *testing.T) {
	ctx := t.Context()
	n := serve(t, httpapi.Options{})
	must(n.Make(ctx, "f", thousand))(t)
	f, _, err := n.Filter(ctx, "f")
	if err != nil {
		t.Fatal(err)
	}
	came, ends := make(chan [][]byte), errors.New("no more")
	waits := func(yield func([][]byte, error) bool) {
		for keys := range came {
			if !yield(keys, nil) {
				return
			}
		}
	}
	go func() { came <- [][]byte{[]byte("a")} }()
	answered := 0
	err = f.Each(ctx, Has, waits, func([][]byte, []uint64) error {
		if answered++; answered == 2 {
			return ends
		}
		go func() { came <- [][]byte{[]byte("b")} }()
		return nil
	})
	if !errors.Is(err, ends) {
		t.Errorf("%v, want the error of who got the second answer", err)
	}
	close(came)

	ctx, cancel := context.WithCancel(ctx)
	came = make(chan [][]byte)
	time.AfterFunc(time.Millisecond, cancel)
	if err := f.Each(ctx, Has, waits, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that it was given up while it waited for keys", err)
	}
	close(came)
}

func TestContainers(t *testing.T) {
	ctx := t.Context()
	n := serve(t, httpapi.Options{})
	must(n.Make(ctx, "f", thousand))(t)
	f, _, err := n.Filter(ctx, "f")
	if err != nil {
		t.Fatal(err)
	}
	must(f.Keys(ctx, Add, [][]byte{[]byte("a")}))(t)
	var plain, packed bytes.Buffer
	id := must(n.Get(ctx, "f", false, &plain))(t)
	if other := must(n.Get(ctx, "f", true, &packed))(t); other != id || packed.Len() >= plain.Len() {
		t.Errorf("packed %s of %d bytes, plain %s of %d", other, packed.Len(), id, plain.Len())
	}
	s := must(wire.Parse(packed.Bytes(), wire.Limits{}))(t)
	if hashtree.Identify(s).String() != id {
		t.Errorf("it is %v, said to be %s", hashtree.Identify(s), id)
	}
	must(n.Put(ctx, "g", bytes.NewReader(packed.Bytes()), false))(t)
	if _, err := n.Put(ctx, "g", bytes.NewReader(packed.Bytes()), false); word(err) != api.WordExists {
		t.Errorf("%v, want that it exists", err)
	}
	must(n.Put(ctx, "g", bytes.NewReader(packed.Bytes()), true))(t)
	if a, b := must(n.Get(ctx, "f", false, io.Discard))(t), must(n.Get(ctx, "g", false, io.Discard))(t); a != b {
		t.Errorf("the upload is %s, want %s", b, a)
	}
}

func TestErrors(t *testing.T) {
	ctx, saved := t.Context(), emptyBackup(t)
	n := serve(t, httpapi.Options{
		Backup: func(_ context.Context, w io.Writer) error { _, err := w.Write(saved); return err },
	})
	must(n.Make(ctx, "f", thousand))(t)
	must(n.Make(ctx, "md5", api.FilterSpec{Keys: 1000, FPRate: 0.01, Hash: "md5"}))(t)
	for _, c := range []struct {
		do   func() error
		want error
	}{
		{func() error { _, err := n.Make(ctx, "x", api.FilterSpec{Kind: "x", Keys: 1, FPRate: 0.1}); return err }, umbel.ErrKind},
		{func() error { _, err := n.Make(ctx, "x", api.FilterSpec{FPRate: 0.1}); return err }, umbel.ErrGoal},
		{func() error { _, err := n.Merge(ctx, "f", "md5"); return err }, umbel.ErrMismatch},
		{func() error { _, err := n.Do(ctx, "f", operation.Advance, umbel.Uint(1)); return err }, errors.ErrUnsupported},
		{func() error { _, err := n.Put(ctx, "x", strings.NewReader("x"), false); return err }, umbel.ErrCorrupt},
	} {
		if err := c.do(); !errors.Is(err, c.want) {
			t.Errorf("%v, want one that is %q", err, c.want)
		}
	}
	if _, err := n.Info(ctx, "x"); word(err) != api.WordNotFound {
		t.Errorf("a missing filter: %v", err)
	}
	if _, err := n.Make(ctx, "f", thousand); word(err) != api.WordExists {
		t.Errorf("a name that is taken: %v", err)
	}
	var b bytes.Buffer
	if err := n.Backup(ctx, func(in io.Reader) error { return backup.Copy(&b, in) }); err != nil || !bytes.Equal(b.Bytes(), saved) {
		t.Errorf("the backup is %q, %v", &b, err)
	}
}

// Every request fails at a server that is not umbel's, also if its status is that of success and its body is JSON.
func TestOthers(t *testing.T) {
	answers := func(status int, media, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = []string{media}[:min(1, len(media))]
			w.WriteHeader(status)
			io.WriteString(w, body)
		}
	}
	for what, h := range map[string]http.HandlerFunc{
		"a page":         answers(http.StatusOK, "text/html; charset=utf-8", "<html>"),
		"nothing":        answers(http.StatusOK, "", ""),
		"no type":        answers(http.StatusOK, "", "{}"),
		"accepted":       answers(http.StatusAccepted, "text/plain", "ok"),
		"a list":         answers(http.StatusOK, api.MediaJSON, "[]"),
		"not modified":   answers(http.StatusNotModified, "", ""),
		"an error":       func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusInternalServerError) },
		"half a problem": answers(http.StatusNotFound, api.MediaProblem, "{"),
		"a redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://elsewhere.example", http.StatusFound)
		},
	} {
		s := httptest.NewServer(h)
		c := must(New(s.URL, Options{}))(t)
		for verb, do := range everyRequest(io.Discard) {
			if err := do(t.Context(), c); err == nil || len(err.Error()) < 5 {
				t.Errorf("%s of a server that returns %s: error %v", verb, what, err)
			}
		}
		c.HTTP.CloseIdleConnections()
		s.Close()
		if _, err := c.Info(t.Context(), "f"); err == nil {
			t.Errorf("%s: nobody is there and answers", what)
		}
	}
}

// A service whose answers are JSON objects is neither ready nor has it filters.
func TestOtherObjects(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", api.MediaJSON)
		io.WriteString(w, `{"status":"ok"}`)
	}))
	defer s.Close()
	c := must(New(s.URL, Options{}))(t)
	defer c.HTTP.CloseIdleConnections()
	requests := everyRequest(io.Discard)
	for _, verb := range []string{"ready", "info", "make", "put", "merge", "has", "add", "delete", "snapshot", "get", "backup"} {
		if err := requests[verb](t.Context(), c); err == nil {
			t.Errorf("%s succeeds", verb)
		}
	}
}

func TestAddresses(t *testing.T) {
	for addr, want := range map[string]string{
		"localhost":             "http://localhost:8780",
		"localhost:1":           "http://localhost:1",
		"http://h":              "http://h:8780",
		"https://h:443/":        "https://h:443",
		"[::1]:8780":            "http://[::1]:8780",
		"https://[2001:db8::1]": "https://[2001:db8::1]:8780",
		"u:p@h":                 "http://u:p@h:8780",
		"":                      "",
		"ftp://h":               "",
		"http://h/path":         "",
		"http://h?q":            "",
		"http://":               "",
		"http://u:secret@h:x":   "",
	} {
		c, err := New(addr, Options{})
		if want == "" {
			if err == nil {
				t.Errorf("%q is taken for %s", addr, c.Base)
			} else if strings.Contains(err.Error(), "secret@") && !strings.Contains(addr, "u:secret@h:x") {
				t.Errorf("%q: the error shows the password: %v", addr, err)
			}
			continue
		}
		if err != nil || c.Base.String() != want {
			t.Errorf("%q: %v, %v, want %s", addr, c, err, want)
		}
	}
}

// The client trusts only the certificates it was given.
func TestCertificates(t *testing.T) {
	e := engine.New(engine.Options{Kinds: filter.All})
	s := httptest.NewUnstartedServer(httpapi.New(httpapi.Options{Engine: e}))
	s.TLS = &tls.Config{}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(ca, block, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		o  Options
		ok bool
	}{{Options{CACert: ca}, true}, {Options{}, false}} {
		n := must(New(s.URL, c.o))(t)
		if _, err := n.Make(t.Context(), "f", thousand); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c.o, err)
		}
		n.HTTP.CloseIdleConnections()
	}
	if _, err := New(s.URL, Options{CACert: os.DevNull}); err == nil {
		t.Error("a file without certificates is taken")
	}
	if _, err := New(s.URL, Options{Cert: ca, Key: ca}); err == nil {
		t.Error("a key that is none is taken")
	}
}

// Each problem that stands for a sentinel is read as that sentinel.
func TestProblems(t *testing.T) {
	for word, want := range map[string]error{
		"memory": umbel.ErrLimit, "stale": share.ErrStale, "unsupported": errors.ErrUnsupported, "corrupt": umbel.ErrCorrupt,
		"kind": umbel.ErrKind, "goal": umbel.ErrGoal, "mismatch": umbel.ErrMismatch, "limit": umbel.ErrLimit,
	} {
		if err := error(&Error{Problem: api.Problem{Type: "/problems/" + word}}); !errors.Is(err, want) {
			t.Errorf("%s isn't %v", word, want)
		}
	}
}

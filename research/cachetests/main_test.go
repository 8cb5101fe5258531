package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/umbel-filters/umbel/research/cachetests/internal/verdict"
)

// made is a suite of two tests without pauses. A proxy that stores nothing passes the second.
const made = `[{"name": "S", "id": "s", "tests": [
 {"id": "reuse", "name": "A fresh response is reused", "kind": "optimal", "requests": [
  {"response_headers": [["Cache-Control", "max-age=60"]], "setup": true}, {"expected_type": "cached"}]},
 {"id": "stale", "name": "A stale response is not reused", "depends_on": ["reuse"], "requests": [
  {"response_headers": [["Cache-Control", "max-age=0"]], "setup": true}, {"expected_type": "not_cached"}]}]}]`

// proxied returns arguments for a proxy that stores nothing, and the file of made.
func proxied(t *testing.T) []string {
	t.Helper()
	address := net.JoinHostPort("127.0.0.1", freePort(t))
	s := httptest.NewServer(httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: address}))
	t.Cleanup(s.Close)
	return []string{"--base", s.URL, "--origin", address, write(t, made)}
}

// write writes a file and returns its path.
func write(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "file.json")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestJSON(t *testing.T) {
	save := filepath.Join(t.TempDir(), "saved.json")
	arguments := append([]string{"--json", "--save", save}, proxied(t)...)
	var out, trace bytes.Buffer
	if err := run(t.Context(), arguments, &out, &trace); err != nil {
		t.Fatal(err)
	}
	var got report
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatalf("%v in %s", err, out.Bytes())
	}
	if v := got.Verdicts; len(v) != 2 || v["reuse"].Kind != verdict.Assertion || !v["stale"].Pass() {
		t.Errorf("verdicts %v, want a failure and a pass", v)
	}
	if c := got.Counts; len(c) != 3 || c[0].Raw != 1 || c[0].NotApplicable != 1 || c[1].Failed != 1 {
		t.Errorf("counts %+v", c)
	}
	saved, err := readVerdicts(save)
	if err != nil || len(verdict.Compare(saved, got.Verdicts)) > 0 {
		t.Errorf("%v were saved, %v", saved, err)
	}
	if trace.Len() > 0 {
		t.Errorf("%q on stderr, want nothing", trace.String())
	}
	if err := run(t.Context(), arguments, io.Discard, io.Discard); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a file was overwritten: %v", err)
	}
}

func TestCompareFlag(t *testing.T) {
	arguments := proxied(t)
	for recorded, same := range map[string]bool{
		`{"reuse": ["Assertion", "Response 2 does not come from cache"], "stale": true}`: true,
		`{"reuse": true, "stale": true}`:                                                 false,
		`{"stale": true}`:                                                                false,
	} {
		var out bytes.Buffer
		err := run(t.Context(), append([]string{"--compare", write(t, recorded)}, arguments...), &out, io.Discard)
		if (err == nil) != same || errors.Is(err, errUsage) {
			t.Errorf("%s: %v\n%s", recorded, err, out.String())
		}
		if difference := bytes.Contains(out.Bytes(), []byte("recorded")); difference == same {
			t.Errorf("%s: %s", recorded, out.String())
		}
	}
}

// TestTrace tests that --id runs one test without its dependencies and prints its messages.
func TestTrace(t *testing.T) {
	var out, trace bytes.Buffer
	if err := run(t.Context(), append([]string{"--id", "stale"}, proxied(t)...), &out, &trace); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Req-Num: 2", "Cache-Control: max-age=0", "response 2: status 200"} {
		if !bytes.Contains(trace.Bytes(), []byte(want)) {
			t.Errorf("no %q in %s", want, trace.String())
		}
	}
	if bytes.Contains(out.Bytes(), []byte("reuse")) {
		t.Errorf("%s, want only the test stale", out.String())
	}
}

func TestArguments(t *testing.T) {
	tests := write(t, made)
	for _, arguments := range [][]string{
		{}, {"--base", "http://127.0.0.1:1", "--origin", "127.0.0.1:0"}, {tests}, {"--no-such-flag", tests},
		{"--base", "http://127.0.0.1:1", tests}, {"--origin", "127.0.0.1:0", tests},
		{"--base", "http://127.0.0.1:1", "--origin", "127.0.0.1:0", "--parallel", "0", tests},
		{"--base", "http://127.0.0.1:1", "--origin", "127.0.0.1:0", tests, tests},
	} {
		if err := run(t.Context(), arguments, io.Discard, io.Discard); !errors.Is(err, errUsage) {
			t.Errorf("%q: %v, want an error of usage", arguments, err)
		}
	}
	server := []string{"--base", "http://127.0.0.1:1", "--origin", "127.0.0.1:0"}
	for _, arguments := range [][]string{
		{"no-such-file"}, {write(t, "{}")}, {"--id", "no-such-test", tests},
		{"--compare", "no-such-file", tests}, {"--compare", write(t, "[]"), tests}, {"--origin", "256.0.0.0:1", tests},
		{"--base", "nowhere", tests},
	} {
		err := run(t.Context(), append(server, arguments...), io.Discard, io.Discard)
		if err == nil || errors.Is(err, errUsage) {
			t.Errorf("%q: %v, want an error that is not one of usage", arguments, err)
		}
	}
}

func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cache := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { cancel() }))
	defer cache.Close()
	err := run(ctx, []string{"--base", cache.URL, "--origin", "127.0.0.1:0", write(t, made)}, io.Discard, io.Discard)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the context's error", err)
	}
}

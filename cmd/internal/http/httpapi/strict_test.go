package httpapi

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/http/api"
)

// An encoded body is refused: its bytes would be taken for keys.
func TestContentEncoding(t *testing.T) {
	n := serve(t, Options{})
	n.make("f", thousand)
	for _, media := range []string{api.MediaText, api.MediaJSON, api.MediaContainer} {
		r := n.wantProblem(n.ask("POST", "/v1/filters/f/merge", "\x1f\x8b", "Content-Type: "+media, "Content-Encoding: gzip"), 415, "media-type")
		if got := r.Header.Get("Accept-Encoding"); got != "identity" {
			t.Errorf("Accept-Encoding is %q, want identity", got)
		}
	}
	n.wantProblem(n.ask("POST", "/v1/filters/f/add", "a", "Content-Type: text/plain", "Content-Encoding: br"), 415, "media-type")
	n.want(n.ask("POST", "/v1/filters/f/add", "a", "Content-Type: text/plain", "Content-Encoding: identity"), 200, "1\n")
}

// JSON that different readers understand differently is refused: members that occur twice, and
// halves of surrogate pairs, which would all become the same key.
func TestAmbiguousJSON(t *testing.T) {
	n := serve(t, Options{})
	n.make("f", thousand)
	for _, body := range []string{
		`{"keys":["a"],"keys":["b"]}`, `{"keys":["a"],"\u006beys":["b"]}`, `{"keys":["\ud800"]}`, `{"keys":["\udc00\ud800"]}`, `{"keys":["a\ud800b"]}`,
		`{"digests":[],"digests":[]}`, `{"keys":["a"],"Keys":["b"]}`,
	} {
		n.wantProblem(n.ask("POST", "/v1/filters/f/add", body), 400, "bad-request")
	}
	n.wantProblem(n.ask("POST", "/v1/filters/f/add", `"\ud800"`, "Content-Type: "+api.MediaLines), 400, "bad-request")
	n.want(n.ask("POST", "/v1/filters/f/add", `{"keys":["\ud83d\ude00"]}`), 200, "true")
	n.want(n.ask("POST", "/v1/filters/f/has", `{"keys":["😀"]}`), 200, "true")
	n.want(n.ask("POST", "/v1/filters/f/has", `"\ud83d\ude00"`, "Content-Type: "+api.MediaLines), 200, "true")
	n.want(n.ask("POST", "/v1/filters/f/add", `{"keys":["\\ud800"]}`), 200, "true")

	n.wantProblem(n.ask("PUT", "/v1/filters/g", `{"keys":1000,"fpRate":0.01,"keys":2000}`), 400, "bad-request")
	n.wantProblem(n.ask("PUT", "/v1/filters/g", `{"keys":1000,"fpRate":0.01,"params":{"k":3,"k":4}}`), 400, "bad-request")
	n.wantProblem(n.ask("POST", "/v1/filters/f/copy", `{"name":"\udfff"}`), 400, "bad-request")
	n.wantProblem(n.ask("PATCH", "/v1/filters/f", `{"expires":null,"expires":null}`), 400, "bad-request")
}

// Requests that can have no effect are errors.
func TestRequestsWithoutEffect(t *testing.T) {
	n := serve(t, Options{})
	n.make("f", thousand)
	n.wantProblem(n.ask("PATCH", "/v1/filters/f", `{"name":""}`), 400, "bad-request")
	n.wantProblem(n.ask("PATCH", "/v1/filters/f", `{"nameBase64":""}`), 400, "bad-request")
	n.wantProblem(n.ask("PUT", "/v1/filters/g", `{"keys":1000,"fpRate":0.01,"expires":"1969-01-01T00:00:00Z"}`), 400, "bad-request")
	if n.engine.Get([]byte("g")) != nil {
		t.Error("a filter was made that had expired already")
	}
}

// Browsers do not guess the type of a response.
func TestNoSniff(t *testing.T) {
	n := serve(t, Options{})
	for _, path := range []string{"/healthz", "/v1/filters", "/v1/filters/none", "/none"} {
		if got := n.ask(http.MethodGet, path, "").Header.Get("X-Content-Type-Options"); got != "nosniff" {
			t.Errorf("%s: X-Content-Type-Options is %q", path, got)
		}
	}
}

// JSON of another type is refused with the name of the member and what is wanted there.
func TestWrongJSON(t *testing.T) {
	n := serve(t, Options{})
	n.make("f", thousand)
	for _, c := range []struct{ method, path, body, want string }{
		{"PUT", "g", `{"keys":10,"fpRate":"1%"}`, "body: fpRate: want a number such as 0.01"},
		{"PUT", "g", `{"keys":10,"FPRATE":1e999}`, "body: fpRate: want a number such as 0.01"},
		{"PUT", "g", `{"keys":10,"expires":"1h"}`, "body: expires: want a time such as 2030-01-01T00:00:00Z"},
		{"PUT", "g", `{"keys":10,"expires":5}`, "body: expires: want a time such as 2030-01-01T00:00:00Z"},
		{"PUT", "g", `{"params":{"window":"1h"}}`, "body: params.window: want a whole number"},
		{"PUT", "g", `{"params":{"window":true}}`, "body: params.window: want a whole number"},
		{"PUT", "g", `{"params":{"tightening":"half"}}`, "body: params.tightening: want a number"},
		{"PUT", "g", `{"params":{"a\nb":"half"}}`, `body: params.a\nb: want a number`},
		{"PUT", "g", `{"params":[1]}`, "body: params: want an object"},
		{"PUT", "g", `{"keys":"many"}`, "body: keys: want a whole number from 0 to 2^64-1"},
		{"PUT", "g", `{"keys":-1}`, "body: keys: want a whole number from 0 to 2^64-1"},
		{"PUT", "g", `{"tickNanos":1.5}`, "body: tickNanos: want a whole number from 0 to 2^64-1"},
		{"PUT", "g", `{"seed":5}`, "body: seed: want a string"},
		{"PUT", "g", `{"rate":0.01}`, `body: unknown member "rate"; want bytes, expires, fpRate, hash, keys, kind, params, seed, tickNanos`},
		{"PUT", "g", `{"fpRate":"1%"} {}`, "body: fpRate: want a number such as 0.01"},
		{"PUT", "g", `[]`, "body: want an object"},
		{"PUT", "g", `{"keys":}`, "body: invalid character '}' looking for beginning of value"},
		{"PATCH", "f", `{"expires":"1h"}`, "body: expires: want a time such as 2030-01-01T00:00:00Z, or null"},
		{"POST", "f/copy", `{"name":1}`, "body: name: want a string"},
		{"POST", "f/copy", `{"name":"g","replace":"yes"}`, "body: replace: want true or false"},
		{"POST", "f/fold", `{"factor":"2"}`, "body: factor: want a whole number from 0 to 2^64-1"},
	} {
		r := n.wantProblem(n.ask(c.method, "/v1/filters/"+c.path, c.body), 400, "bad-request")
		var p api.Problem
		if err := json.Unmarshal([]byte(r.body), &p); err != nil || p.Detail != c.want {
			t.Errorf("%s: got %q, want %q", c.body, p.Detail, c.want)
		}
	}
}

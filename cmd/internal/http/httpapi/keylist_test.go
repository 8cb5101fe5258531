package httpapi

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/service/budget"
)

// digestsIn parses a body of keys with the reader of requests.
func digestsIn(from io.Reader) ([]umbel.Digest, error) {
	in := keyListReader{from: from, take: func(int) error { return nil }, allowed: func() error { return nil }}
	l, err := in.read()
	if err != nil {
		return nil, err
	}
	return slices.Concat(l.all()...), nil
}

// wantedDigests parses the same body with package json.
func wantedDigests(body []byte) ([]umbel.Digest, error) {
	var l struct{ Keys, Base64, Digests []string }
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		return nil, err
	}
	var ds []umbel.Digest
	for _, k := range l.Keys {
		ds = append(ds, umbel.Hasher{}.HashString(k))
	}
	for _, k := range l.Base64 {
		b, err := base64.StdEncoding.DecodeString(k)
		if err != nil {
			return nil, err
		}
		ds = append(ds, umbel.Hasher{}.HashBytes(b))
	}
	for _, k := range l.Digests {
		d, err := umbel.ParseDigest(k)
		if err != nil {
			return nil, err
		}
		ds = append(ds, d)
	}
	return ds, nil
}

// keyBodies are examples of bodies, most of them malformed.
var keyBodies = []string{
	`{"keys":["a","b\nc","\ud83d\ude00"]}`, ` { "digests" : [ "000102030405060708090a0b0c0d0e0f" ] , "base64":["YQ=="],"keys":[] } `,
	`{"keys":["a"`, `{"keys":["a",]}`, `{"keys":["a"]}x`, `{"keys":["a"],"keys":["b"]}`, `{"keys":["\ud800"]}`, `{"keys":null}`, `{"keys":[1]}`, `{}`, `[]`, `{"keys":["\"]}`,
	"{\"keys\":[\"\xff\"]}", "{\"keys\":[\"\n\"]}", `{"base64":["Y"]}`, `{"\u006beys":["a"]}`, `{"keys":["` + strings.Repeat("long ", 2000) + `"]}`,
}

// checkKeyList fails the test unless the digests of a body that is accepted are those that package
// json finds in it, however the body is divided when it arrives.
func checkKeyList(t *testing.T, body []byte) (accepted bool) {
	t.Helper()
	got, err := digestsIn(bytes.NewReader(body))
	again, errAgain := digestsIn(iotest.OneByteReader(bytes.NewReader(body)))
	if (err == nil) != (errAgain == nil) || !slices.Equal(got, again) {
		t.Fatalf("%q: whole: %v, %v; byte by byte: %v, %v", body, got, err, again, errAgain)
	}
	if err != nil {
		return false
	}
	if want, err := wantedDigests(body); err != nil || !slices.Equal(got, want) {
		t.Fatalf("%q: %v, want %v, %v", body, got, want, err)
	}
	return true
}

func FuzzKeyList(f *testing.F) {
	for _, body := range keyBodies {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) { checkKeyList(t, body) })
}

// Mutations of examples, without the time that compiling a fuzz target takes.
func TestKeyListMutations(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const alphabet = "{}[]\",:\\ \nud8c0aeky\xff"
	accepted := 0
	for i := range 10_000 {
		body := []byte(keyBodies[i%(len(keyBodies)-1)]) // the last is long
		for range random.IntN(4) {
			at := random.IntN(len(body))
			switch c := alphabet[random.IntN(len(alphabet))]; random.IntN(3) {
			case 0:
				body[at] = c
			case 1:
				body = slices.Insert(body, at, c)
			default:
				if len(body) > 1 {
					body = slices.Delete(body, at, at+1)
				}
			}
		}
		if checkKeyList(t, body) {
			accepted++
		}
	}
	if accepted < 300 {
		t.Errorf("%d bodies were accepted, want 300 or more", accepted)
	}
}

func TestKeyListIsTaken(t *testing.T) {
	for _, body := range []string{
		`{"keys":[]}`, `{"keys":["a"],"base64":[],"digests":[]}`, " {\t\"keys\"\r\n:[ ] }\n", `{"keys":["` + strings.Repeat("x", 100_000) + `"]}`,
	} {
		got, err := digestsIn(strings.NewReader(body))
		want, _ := wantedDigests([]byte(body))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%.40q: %v, %v; want %v", body, got, err, want)
		}
	}
}

// The memory of a request with keys is 16 bytes per key, an answer, and its buffers.
func TestMemoryOfKeys(t *testing.T) {
	const keys = 1 << 20
	b := budget.New(keys*17 + 256<<10)
	n := serve(t, Options{Budget: b, MaxBody: 64 << 20})
	n.make("f", thousand)
	body := `{"keys":[` + strings.Repeat(`"",`, keys-1) + `""]}`
	if r := n.want(n.ask("POST", "/v1/filters/f/has", body), 200); strings.Count(r.body, "false") != keys {
		t.Errorf("%d answers, want %d", strings.Count(r.body, "false"), keys)
	}
	if b.Used() != 0 {
		t.Errorf("%d bytes are taken after the request", b.Used())
	}
	if err := b.Take(keys * 8); err != nil { // another request
		t.Fatal(err)
	}
	if r := n.wantProblem(n.ask("POST", "/v1/filters/f/has", body), 503, "busy"); r.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	n.want(n.ask("POST", "/v1/filters/f/has", `{"keys":["a"]}`), 200)
	b.SetLimit(keys * 8)
	for _, headers := range [][]string{{"Content-Type: text/plain"}, nil} {
		n.wantProblem(n.ask("POST", "/v1/filters/f/has", `{"keys":["a"]}`, headers...), 503, "busy")
	}
	n.wantProblem(n.ask("PUT", "/v1/filters/g", thousand), 503, "busy")
}

// A minimal response to an addition states that the filter is overfull, in JSON and as a stream.
func TestMinimalOverfull(t *testing.T) {
	n := serve(t, Options{})
	n.make("small", `{"keys":10,"fpRate":0.01}`)
	var lines strings.Builder
	for i := range 100 {
		fmt.Fprintln(&lines, i)
	}
	const path = "/v1/filters/small"
	n.want(n.ask("POST", path+"/add", `{"keys":["a"]}`, "Prefer: return=minimal"), 200, `{"keys":1,"yes":1}`)
	if r := n.want(n.ask("POST", path+"/add", lines.String(), "Content-Type: text/plain", "Prefer: return=minimal"), 200); !strings.HasSuffix(r.body, `"overfull":true}`+"\n") {
		t.Errorf("stream: %s", r.body)
	}
	n.want(n.ask("POST", path+"/add", `{"keys":["a"]}`, "Prefer: return=minimal"), 200, `{"keys":1,"yes":0,"overfull":true}`)
	n.want(n.ask("POST", path+"/has", `{"keys":["a"]}`, "Prefer: return=minimal"), 200, `{"keys":1,"yes":1}`)
}

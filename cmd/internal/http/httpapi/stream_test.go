package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/disk/disktest"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/files/keys"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/internal/await"
)

func digestsOf(ds ...umbel.Digest) string {
	var b []byte
	for _, d := range ds {
		b = binary.LittleEndian.AppendUint64(b, d.H1)
		b = binary.LittleEndian.AppendUint64(b, d.H2)
	}
	return string(b)
}

// Keys are the same in each form of a request.
func TestForms(t *testing.T) {
	n := serve(t, Options{})
	n.make("f", thousand)
	n.make("c", `{"kind":"counting","keys":1000,"fpRate":0.001}`)
	var h umbel.Hasher
	for _, c := range []struct{ what, media, keys, has, counts string }{
		{"text", api.MediaText, "a\r\nb\nc", "1\n1\n0\n", "1\n1\n0\n"},
		{"lines", api.MediaLines, "\"a\"\n\n \"b\" \n{\"base64\":\"Yw==\"}\n", "true\ntrue\nfalse\n", "1\n1\n0\n"},
		{"escapes", api.MediaLines, `"\u0061"` + "\n" + `"b"` + "\r\n" + `"c"`, "true\ntrue\nfalse\n", "1\n1\n0\n"},
		{"digests", api.MediaDigests, digestsOf(h.HashString("a"), h.HashString("b"), h.HashString("c")), "\x01\x01\x00", "\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"},
		{"json", api.MediaJSON, `{"keys":["a","b","c"]}`, "{\"answers\":[true,true,false]}\n", "{\"answers\":[1,1,0]}\n"},
		{"json base64", api.MediaJSON, `{"base64":["YQ==","Yg==","Yw=="]}`, "{\"answers\":[true,true,false]}\n", "{\"answers\":[1,1,0]}\n"},
		{"json digests", api.MediaJSON, fmt.Sprintf(`{"digests":["%v","%v","%v"]}`, h.HashString("a"), h.HashString("b"), h.HashString("c")), "{\"answers\":[true,true,false]}\n", "{\"answers\":[1,1,0]}\n"},
		{"no keys", api.MediaText, "", "", ""},
		{"no keys in json", api.MediaJSON, `{"keys":[]}`, "{\"answers\":[]}\n", "{\"answers\":[]}\n"},
	} {
		t.Run(c.what, func(t *testing.T) {
			n := *n
			n.T = t
			for _, name := range []string{"f", "c"} {
				n.want(n.ask("POST", "/v1/filters/"+name+"/clear", ""), 200)
				n.want(n.ask("POST", "/v1/filters/"+name+"/add", `{"keys":["a","b"]}`), 200)
			}
			r := n.want(n.ask("POST", "/v1/filters/f/has", c.keys, "Content-Type: "+c.media), 200)
			if r.body != c.has {
				t.Errorf("has answers %q, want %q", r.body, c.has)
			}
			if got := r.Header.Get("Content-Type"); got != c.media {
				t.Errorf("the answer is %q, want %q", got, c.media)
			}
			if r := n.want(n.ask("POST", "/v1/filters/c/count", c.keys, "Content-Type: "+c.media), 200); r.body != c.counts {
				t.Errorf("count answers %q, want %q", r.body, c.counts)
			}
		})
	}
}

func TestBadKeys(t *testing.T) {
	n := serve(t, Options{MaxBody: 1000})
	n.make("f", thousand)
	n.make("d", `{"keys":1000,"fpRate":0.01,"hash":"caller"}`)
	for _, c := range []struct {
		what, filter, media, body string
		status                    int
		word                      string
	}{
		{"no list", "f", api.MediaJSON, `{}`, 400, "bad-request"},
		{"numbers", "f", api.MediaJSON, `{"keys":[1]}`, 400, "bad-request"},
		{"not UTF-8", "f", api.MediaJSON, "{\"keys\":[\"\xff\"]}", 400, "bad-request"},
		{"not base64", "f", api.MediaJSON, `{"base64":["?"]}`, 400, "bad-request"},
		{"no digest", "f", api.MediaJSON, `{"digests":["12"]}`, 400, "bad-request"},
		{"a long body", "f", api.MediaJSON, `{"keys":["` + strings.Repeat("x", 1000) + `"]}`, 413, "too-large"},
		{"a number on a line", "f", api.MediaLines, "1\n", 400, "bad-request"},
		{"a line that isn't UTF-8", "f", api.MediaLines, "\"\xff\"\n", 400, "bad-request"},
		{"an open string", "f", api.MediaLines, "\"a\n", 400, "bad-request"},
		{"15 bytes", "f", api.MediaDigests, "123456789012345", 400, "bad-request"},
		{"a key above 1 MiB", "f", api.MediaText, strings.Repeat("x", 1<<20+1000), 413, "too-large"},
		{"a key where digests are", "d", api.MediaText, "a\n", 400, "bad-request"},
		{"another form", "f", "image/png", "a\n", 415, "media-type"},
		{"another filter", "x", api.MediaText, "a\n", 404, "not-found"},
	} {
		t.Run(c.what, func(t *testing.T) {
			n := *n
			n.T = t
			n.wantProblem(n.ask("POST", "/v1/filters/"+c.filter+"/add", c.body, "Content-Type: "+c.media), c.status, c.word)
		})
	}
	n.want(n.ask("POST", "/v1/filters/d/add", "000102030405060708090a0b0c0d0e0f\n", "Content-Type: text/plain"), 200)
	n.wantProblem(n.ask("POST", "/v1/filters/f/add", digestsOf(umbel.Digest{}), "Content-Type: "+api.MediaDigests, "Umbel-Hash: siphash"), 409, "mismatch")
	n.want(n.ask("POST", "/v1/filters/f/add", digestsOf(umbel.Digest{}), "Content-Type: "+api.MediaDigests, "Umbel-Hash: xxh3"), 200)
}

// A body of lines has the keys that umbel make reads from a file with the same bytes, or is refused for the same reason.
func TestLinesAsInFiles(t *testing.T) {
	n := serve(t, Options{})
	rng := rand.New(rand.NewPCG(1, 2))
	parts := []string{
		"a", "bc", "\r", "\n", "\r\n", "\n\n", "\x00", "\ufeff", "é", "\xff", "0123456789abcdef", "\n", "\n",
		"\x1f\x8b\x08", "PAR1", "\x89umbel\n\x01", "\xff\xfe", "a\x00b\x00",
	}
	for i := range 300 {
		body := ""
		for range rng.IntN(8) {
			body += parts[rng.IntN(len(parts))]
		}
		want, wantErr := []string{}, error(nil)
		for in := keys.NewReader(strings.NewReader(body), keys.Lines); wantErr == nil; {
			chunk, err := in.Next(nil)
			for wantErr = err; len(chunk) > 0; {
				var key []byte
				key, chunk = keys.Lines.Cut(chunk)
				want = append(want, base64.StdEncoding.EncodeToString(key))
			}
		}
		n.make("f", thousand)
		r := n.ask("POST", "/v1/filters/f/add", body, "Content-Type: text/plain; charset=UTF-8")
		switch text := r.body + r.Trailer.Get(api.TrailerProblem); {
		case wantErr == io.EOF && (r.StatusCode != 200 || strings.Count(r.body, "\n") != len(want)):
			t.Fatalf("%d: %q: status %d, answers %q, want %d of them", i, body, r.StatusCode, r.body, len(want))
		case wantErr != io.EOF && (r.StatusCode == 200 && len(want) == 0 || !strings.Contains(text, wantErr.Error())):
			t.Fatalf("%d: %q: status %d, %q, want %q", i, body, r.StatusCode, text, wantErr)
		}
		list, _ := json.Marshal(map[string][]string{"base64": want}) // strings cannot fail
		if r := n.want(n.ask("POST", "/v1/filters/f/has", string(list)), 200); strings.Contains(r.body, "false") {
			t.Fatalf("%d: %q: a key of %q is absent", i, body, want)
		}
		n.want(n.ask("DELETE", "/v1/filters/f", ""), 204)
	}
	n.make("f", thousand)
	for head, status := range map[string]int{
		"charset=utf-8": 200, "charset=US-ASCII": 200, `charset="utf-8"`: 200, "charset=utf-16": 415, "charset=iso-8859-1": 415,
	} {
		if r := n.ask("POST", "/v1/filters/f/add", "a\n", "Content-Type: text/plain; "+head); r.StatusCode != status {
			t.Errorf("%s: status %d, want %d", head, r.StatusCode, status)
		}
	}
}

// talk is a stream under way.
type talk struct {
	t    *testing.T
	keys *io.PipeWriter
	*http.Response
	lines *bufio.Reader
}

// talkTo opens a stream and sends the first keys.
func (n *node) talkTo(path, media, first string) *talk {
	n.Helper()
	out, in := io.Pipe()
	go io.WriteString(in, first)
	r, err := http.NewRequestWithContext(n.Context(), "POST", n.url+path, out)
	if err != nil {
		n.Fatal(err)
	}
	r.Header.Set("Content-Type", media)
	answer, err := n.client.Do(r)
	if err != nil {
		n.Fatal(err)
	}
	n.Cleanup(func() { in.Close(); answer.Body.Close() })
	return &talk{n.T, in, answer, bufio.NewReader(answer.Body)}
}

func (k *talk) say(text string) {
	k.t.Helper()
	if _, err := io.WriteString(k.keys, text); err != nil {
		k.t.Fatal(err)
	}
}

func (k *talk) hear(want string) {
	k.t.Helper()
	if got, err := k.lines.ReadString('\n'); err != nil || got != want {
		k.t.Fatalf("heard %q, %v, want %q", got, err, want)
	}
}

// A key is answered when it has come, while the stream goes on.
func TestStreamAnswersAtOnce(t *testing.T) {
	n := serve(t, Options{})
	n.make("f", thousand)
	k := n.talkTo("/v1/filters/f/add", api.MediaLines, "\"a\"\n")
	k.hear("true\n")
	k.say("\"a\"\n\"b\"\n\"half")
	k.hear("false\n")
	k.hear("true\n")
	k.say(" a key\"\n")
	k.hear("true\n")
	n.want(n.ask("POST", "/v1/filters/f/has", `{"keys":["half a key","half"]}`), 200, `[true,false]`)
	k.keys.Close()
	if rest, err := io.ReadAll(k.lines); err != nil || len(rest) > 0 {
		t.Errorf("%q, %v at the end, want nothing", rest, err)
	}
}

// Over HTTP/2 too, where there are no connections to close.
func TestStreamOverHTTP2(t *testing.T) {
	e := engine.New(engine.Options{Kinds: filter.All, Now: func() int64 { return 1 }})
	s := httptest.NewUnstartedServer(New(Options{Engine: e, Dir: disktest.NewDisk().Dir()}))
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	n := &node{t, s.URL, e, s.Client()}
	n.make("f", thousand)
	k := n.talkTo("/v1/filters/f/add", api.MediaText, "a\n")
	if k.ProtoMajor != 2 {
		t.Fatalf("this is %s", k.Proto)
	}
	k.hear("1\n")
	k.say("a\nb\n")
	k.hear("0\n")
	k.hear("1\n")
	k.keys.Close()
	if rest, err := io.ReadAll(k.lines); err != nil || len(rest) > 0 {
		t.Errorf("%q, %v at the end, want nothing", rest, err)
	}
	n.want(n.ask("POST", "/v1/filters/f/has", `{"keys":["b"]}`), 200, "[true]")
}

// What goes wrong after the first answer is the last line, and in the trailer.
func TestStreamFails(t *testing.T) {
	n := serve(t, Options{})
	// The key that is too long exceeds the limit by little: a server that leaves more of a request
	// unread closes the connection, and the client may lose the end of the response.
	for _, c := range []struct{ media, good, answer, bad, last string }{
		{api.MediaLines, "\"a\"\n", "true\n", "\"b\"\nnonsense\n\"c\"\n", "true\n{"},
		{api.MediaText, "a\n", "1\n", "b\n" + strings.Repeat("x", 1<<20+1000), "1\nerror: "},
	} {
		n.make("f", thousand)
		k := n.talkTo("/v1/filters/f/add", c.media, c.good)
		k.hear(c.answer)
		go func() { io.WriteString(k.keys, c.bad); k.keys.Close() }()
		rest, err := io.ReadAll(k.lines)
		if err != nil || !strings.HasPrefix(string(rest), c.last) {
			t.Errorf("%s: %q, %v at the end, want %q first", c.media, rest, err, c.last)
		}
		var p api.Problem
		if err := json.Unmarshal([]byte(k.Trailer.Get(api.TrailerProblem)), &p); err != nil || p.Done != 2 {
			t.Errorf("%s: the trailer is %q, want a problem with 2 done", c.media, k.Trailer.Get(api.TrailerProblem))
		}
		n.want(n.ask("DELETE", "/v1/filters/f", ""), 204)
	}
}

// A stream ends where its filter does: another one of that name may hash in another way.
func TestStreamOfFilterThatGoes(t *testing.T) {
	n := serve(t, Options{})
	n.make("f", thousand)
	k := n.talkTo("/v1/filters/f/has", api.MediaLines, "\"a\"\n")
	k.hear("false\n")
	n.want(n.ask("DELETE", "/v1/filters/f", ""), 204)
	n.make("f", thousand)
	k.say("\"a\"\n")
	if rest, _ := io.ReadAll(k.lines); !strings.Contains(string(rest), "not-found") {
		t.Errorf("heard %q, want that the filter isn't there", rest)
	}
}

// log is a journal that keeps nothing until the test permits it.
type log struct {
	mu       sync.Mutex
	last     engine.Position
	waited   atomic.Uint64
	release  chan struct{}
	notReady error
	fails    error
}

func (l *log) Ready() error       { return l.notReady }
func (l *log) ReadyToFree() error { return l.notReady }
func (l *log) Admit(uint64) error { return nil }

func (l *log) Append(engine.Change) engine.Position {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	return l.last
}

func (l *log) Last() engine.Position {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

func (l *log) Begin(engine.Change) (engine.LongChange, error) {
	return nil, errors.New("no filter here is large")
}

func (l *log) wait(ctx context.Context, pos engine.Position) error {
	l.waited.Store(uint64(pos))
	if l.fails != nil {
		return l.fails
	}
	select {
	case <-l.release:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func serveWithLog(t *testing.T, l *log) *node {
	t.Helper()
	e := engine.New(engine.Options{Kinds: filter.All, Now: func() int64 { return 1 }})
	if _, _, err := e.Create("f", "bloom", umbel.Goal{Keys: 1000, FPRate: 0.01}, nil); err != nil {
		t.Fatal(err)
	}
	e.SetJournal(l)
	return serve(t, Options{Engine: e, Wait: l.wait})
}

// Nothing is answered before it is kept, in a stream neither.
func TestAnswersWait(t *testing.T) {
	l := &log{release: make(chan struct{})}
	n := serveWithLog(t, l)
	heard := make(chan string, 1)
	go func() {
		k := n.talkTo("/v1/filters/f/add", api.MediaLines, "\"a\"\n")
		line, _ := k.lines.ReadString('\n')
		heard <- line
		k.keys.Close()
	}()
	await.True(t, "the server waits", func() bool { return l.waited.Load() > 0 })
	select {
	case line := <-heard:
		t.Fatalf("heard %q before it was kept", line)
	case <-time.After(20 * time.Millisecond):
	}
	close(l.release)
	if line := <-heard; line != "true\n" {
		t.Errorf("heard %q, want true", line)
	}
}

func TestChangesThatAreNotKept(t *testing.T) {
	l := &log{release: make(chan struct{}), fails: errors.New("the disk is full")}
	n := serveWithLog(t, l)
	for _, c := range [][3]string{
		{"POST", "/v1/filters/f/add", `{"keys":["a"]}`},
		{"PUT", "/v1/filters/g", thousand},
		{"POST", "/v1/filters/f/clear", ""},
		{"POST", "/v1/filters/f/copy", `{"name":"h"}`},
		{"POST", "/v1/filters/f/fold", `{"factor":2}`},
		{"PATCH", "/v1/filters/f", `{"expires":"2033-05-18T03:33:20Z"}`},
		{"DELETE", "/v1/filters/f", ""},
	} {
		r := n.wantProblem(n.ask(c[0], c[1], c[2]), 503, "not-kept", "disk is full")
		if r.Header.Get("Retry-After") == "" {
			t.Errorf("%s %s: no Retry-After", c[0], c[1])
		}
	}
	r := n.ask("POST", "/v1/filters/g/add", "a\n", "Content-Type: text/plain")
	n.wantProblem(r, 503, "not-kept")
	if strings.Contains(r.body, "done") {
		t.Errorf("keys that aren't kept count as done: %s", r.body)
	}
	l.notReady = errors.New("the disk is full")
	n.wantProblem(n.ask("POST", "/v1/filters/g/add", `{"keys":["a"]}`), 503, "read-only", "disk is full")
	n.want(n.ask("POST", "/v1/filters/g/has", `{"keys":["a"]}`), 200, "[true]")
}

// A change that cannot be written for a moment is waited for if the client prefers that, and made once.
func TestChangesThatAreKeptLater(t *testing.T) {
	serving, stop := context.WithCancel(t.Context())
	var failures atomic.Int64
	e := engine.New(engine.Options{Kinds: filter.All, Now: func() int64 { return 1 }})
	e.SetJournal(new(log))
	n := serve(t, Options{Engine: e, Serving: serving, Wait: func(context.Context, engine.Position) error {
		if failures.Add(-1) >= 0 {
			return errors.New("the disk is full")
		}
		return nil
	}})
	n.make("f", `{"kind":"counting","keys":1000,"fpRate":0.001}`)
	for i, prefer := range []string{"wait=30", "return=representation, Wait = 30", `wait="30"; a=b`} {
		for _, media := range []string{"application/json", "text/plain"} {
			key := fmt.Sprintf("%s %d", media, i)
			body := key + "\n"
			if media == "application/json" {
				body = fmt.Sprintf(`{"keys":[%q]}`, key)
			}
			failures.Store(3)
			if r := n.ask("POST", "/v1/filters/f/add", body, "Content-Type: "+media, "Prefer: "+prefer); r.StatusCode != 200 || failures.Load() >= 0 {
				t.Errorf("%s, %s: %s, %d failures left", media, prefer, r.Status, failures.Load())
			}
			n.want(n.ask("POST", "/v1/filters/f/count", fmt.Sprintf(`{"keys":[%q]}`, key)), 200, "[1]")
		}
	}
	for _, prefer := range []string{"", "wait", "wait=0", "wait=-1", "wait=x", "waits=30"} {
		failures.Store(1)
		n.wantProblem(n.ask("POST", "/v1/filters/f/add", `{"keys":["b"]}`, "Prefer: "+prefer), 503, "not-kept", "disk is full")
	}
	failures.Store(1 << 40)
	time.AfterFunc(20*time.Millisecond, stop)
	n.wantProblem(n.ask("POST", "/v1/filters/f/add", `{"keys":["c"]}`, "Prefer: wait=60"), 503, "not-kept", "disk is full")
}

// A filter that may not grow takes what it can, and the client receives the number of keys.
func TestStreamToFullFilter(t *testing.T) {
	n := serve(t, Options{})
	n.make("f", `{"kind":"redisbloom","keys":100,"fpRate":0.01,"params":{"expansion":0}}`)
	if !strings.Contains(n.ask("GET", "/v1/filters/f", "").body, `"grow"`) {
		t.Skip("the kind grows")
	}
	var b strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&b, "key %d\n", i)
	}
	r := n.ask("POST", "/v1/filters/f/add", b.String(), "Content-Type: text/plain", "Prefer: return=minimal")
	if r.StatusCode == 200 {
		t.Skip("the kind grows")
	}
	n.wantProblem(r, 507, "limit", `"done":`)
}

// A long stream takes no more memory than a short one, and all of it is answered.
func TestLongStream(t *testing.T) {
	n := serve(t, Options{})
	n.make("f", `{"keys":1000000,"fpRate":0.01}`)
	const keys = 100_000
	body := func() io.Reader {
		out, in := io.Pipe()
		go func() {
			w := bufio.NewWriter(in)
			for i := range keys {
				fmt.Fprintf(w, "%d\n", i)
			}
			w.Flush()
			in.Close()
		}()
		return out
	}
	post := func(verb string, prefer ...string) []byte {
		r, _ := http.NewRequestWithContext(t.Context(), "POST", n.url+"/v1/filters/f/"+verb, body())
		r.Header.Set("Content-Type", api.MediaText)
		for _, p := range prefer {
			r.Header.Set("Prefer", p)
		}
		answer, err := n.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		b, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	if got := bytes.Count(post("add"), []byte{'\n'}); got != keys {
		t.Errorf("%d answers to %d keys", got, keys)
	}
	if got := post("has"); len(got) != 2*keys || bytes.Contains(got, []byte("0")) {
		t.Errorf("%d answers, a no among them: %v", len(got)/2, bytes.Contains(got, []byte("0")))
	}
	if got := string(post("has", "return=minimal")); got != fmt.Sprintf("{\"keys\":%d,\"yes\":%d}\n", keys, keys) {
		t.Errorf("the sums are %s", got)
	}
}

// A client that neither sends nor ends doesn't keep its stream.
func TestSilentClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := serveInMemory(t, Options{})
		n.make("f", thousand)
		k := n.talkTo("/v1/filters/f/add", api.MediaLines, "\"a\"\n")
		k.hear("true\n")
		began := time.Now()
		rest, _ := io.ReadAll(k.lines) // it ends by itself
		if len(rest) > 0 && !strings.Contains(string(rest), "timeout") {
			t.Errorf("heard %q, want a timeout", rest)
		}
		if took := time.Since(began); took != defaultIdle {
			t.Errorf("the stream ended after %v, want %v", took, defaultIdle)
		}
	})
}

// An answer may take longer than a client may be silent: it has sent all it had to.
func TestSlowServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New(engine.Options{Kinds: filter.All, Now: func() int64 { return 1 }})
		n := serveInMemory(t, Options{Engine: e, Wait: func(ctx context.Context, _ engine.Position) error {
			select {
			case <-time.After(2 * defaultIdle):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}})
		e.SetJournal(&log{})
		n.make("f", thousand)
		n.want(n.ask("POST", "/v1/filters/f/add", "a\n", "Content-Type: text/plain"), 200, "1")
		n.want(n.ask("DELETE", "/v1/filters/f", ""), 204)
	})
}

// memoryListener is a listener whose connections are in memory.
type memoryListener struct {
	accepted chan net.Conn
	closed   chan struct{}
}

func (l memoryListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.accepted:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l memoryListener) Close() error   { close(l.closed); return nil }
func (l memoryListener) Addr() net.Addr { return &net.TCPAddr{} }

func (l memoryListener) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	l.accepted <- server
	return client, nil
}

// serveInMemory is serve with connections whose time is that of a synctest bubble.
func serveInMemory(t *testing.T, o Options) *node {
	t.Helper()
	if o.Engine == nil {
		o.Engine = engine.New(engine.Options{Kinds: filter.All, Now: func() int64 { return 1 }})
	}
	o.Dir = disktest.NewDisk().Dir()
	l := memoryListener{make(chan net.Conn), make(chan struct{})}
	s := &http.Server{Handler: New(o)}
	transport := &http.Transport{DialContext: l.dial}
	go s.Serve(l)
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		s.Close()
	})
	return &node{t, "http://localhost", o.Engine, &http.Client{Transport: transport}}
}

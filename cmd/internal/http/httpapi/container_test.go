package httpapi

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/disk"
	"github.com/umbel-filters/umbel/cmd/internal/durable/disk/disktest"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/hashtree"
)

const acceptContainer = "Accept: " + api.MediaContainer

// container returns the container of a filter, which must be what its tag says.
func (n *node) container(name string, headers ...string) (string, string) {
	n.Helper()
	r := n.want(n.ask("GET", api.FilterPath(name), "", append(headers, acceptContainer)...), 200)
	s, err := wire.Parse([]byte(r.body), wire.Limits{})
	if err != nil {
		n.Fatal(err)
	}
	tag := r.Header.Get("Etag")
	if want := `"` + hashtree.Identify(s).String() + `"`; tag != want {
		n.Errorf("the tag is %s, the ID %s", tag, want)
	}
	return r.body, tag
}

// containers in memory and in files, of kinds that change while they are copied, that
// don't, and that have parts.
func TestContainers(t *testing.T) {
	dir := t.TempDir()
	n := serve(t, Options{Dir: disk.OS(dir)})
	for name, order := range map[string]string{
		"small":    thousand,
		"large":    `{"keys":700000,"fpRate":0.01}`,
		"counting": `{"kind":"counting","keys":150000,"fpRate":0.01}`,
		"parts":    `{"kind":"scalable","keys":300000,"fpRate":0.01}`,
		"dynamic":  `{"kind":"dynamic","keys":100,"fpRate":0.01}`,
	} {
		t.Run(name, func(t *testing.T) {
			n := *n
			n.T = t
			n.make(name, order)
			n.want(n.ask("POST", "/v1/filters/"+name+"/add", `{"keys":["a","b","c"]}`), 200)
			b, tag := n.container(name)
			var s umbel.State
			if err := n.engine.Get([]byte(name)).View(func(f umbel.Filter) { s = f.State().Clone() }); err != nil {
				t.Fatal(err)
			}
			if got := `"` + hashtree.Identify(s).String() + `"`; got != tag {
				t.Errorf("the container is of %s, the filter is %s", tag, got)
			}
			if uint64(len(b)) != wire.Size(s) {
				t.Errorf("%d bytes, the canonical form has %d", len(b), wire.Size(s))
			}

			small := n.want(n.ask("GET", api.FilterPath(name), "", acceptContainer+";form=packed"), 200)
			if got, err := wire.Parse([]byte(small.body), wire.Limits{}); err != nil || `"`+hashtree.Identify(got).String()+`"` != tag {
				t.Errorf("packed it is %v, %v, not %s", hashtree.Identify(got), err, tag)
			}
			if want := strings.TrimSuffix(tag, `"`) + `-packed"`; small.Header.Get("Etag") != want {
				t.Errorf("packed the tag is %s, want %s", small.Header.Get("Etag"), want)
			}

			for _, has := range []string{tag, "W/" + tag, `"x", ` + tag, "*"} {
				if r := n.want(n.ask("GET", api.FilterPath(name), "", acceptContainer, "If-None-Match: "+has), 304); r.Header.Get("Etag") != tag {
					t.Errorf("304 has the tag %s", r.Header.Get("Etag"))
				}
			}
			n.want(n.ask("GET", api.FilterPath(name), "", acceptContainer, "If-None-Match: \"x\""), 200)
			if r := n.want(n.ask("HEAD", api.FilterPath(name), "", acceptContainer), 200); r.Header.Get("Content-Length") != strconv.Itoa(len(b)) {
				t.Errorf("HEAD tells a length of %s, want %d", r.Header.Get("Content-Length"), len(b))
			}

			half := len(b) / 2
			first := n.want(n.ask("GET", api.FilterPath(name), "", acceptContainer, "Range: bytes=0-"+strconv.Itoa(half-1)), 206)
			second := n.want(n.ask("GET", api.FilterPath(name), "", acceptContainer, "Range: bytes="+strconv.Itoa(half)+"-", "If-Range: "+tag), 206)
			if first.body+second.body != b {
				t.Error("two halves aren't the container")
			}
			n.want(n.ask("GET", api.FilterPath(name), "", acceptContainer, "Range: bytes="+strconv.Itoa(len(b))+"-"), 416)

			n.want(n.ask("POST", "/v1/filters/"+name+"/add", `{"keys":["d"]}`), 200)
			if all := n.want(n.ask("GET", api.FilterPath(name), "", acceptContainer, "Range: bytes=0-10", "If-Range: "+tag), 200); len(all.body) <= 11 {
				t.Error("a range of the filter as it was is answered from the filter as it is")
			}
			n.want(n.ask("GET", api.FilterPath(name), "", acceptContainer, "If-None-Match: "+tag), 200)
		})
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%d copies are left, %v", len(left), err)
	}
}

func TestPutContainer(t *testing.T) {
	n := serve(t, Options{})
	const asContainer = "Content-Type: " + api.MediaContainer
	n.make("a", thousand)
	n.want(n.ask("POST", "/v1/filters/a/add", `{"keys":["x"]}`), 200)
	b, tag := n.container("a")
	if r := n.want(n.ask("PUT", "/v1/filters/b", b, asContainer), 201, `"kind":"bloom"`); r.Header.Get("Location") != "/v1/filters/b" {
		t.Errorf("Location %q", r.Header.Get("Location"))
	}
	n.want(n.ask("POST", "/v1/filters/b/has", `{"keys":["x","y"]}`), 200, "[true,false]")
	n.wantProblem(n.ask("PUT", "/v1/filters/b", b, asContainer, "If-None-Match: *"), 412, "precondition")
	n.wantProblem(n.ask("PUT", "/v1/filters/b", b, asContainer, `If-None-Match: "x"`), 400, "bad-request")
	n.wantProblem(n.ask("PUT", "/v1/filters/c", b, asContainer, "If-Match: "+tag), 412, "precondition")
	n.want(n.ask("PUT", "/v1/filters/b", b, asContainer, "If-Match: "+tag), 200)
	n.want(n.ask("POST", "/v1/filters/b/add", `{"keys":["y"]}`), 200)
	n.wantProblem(n.ask("PUT", "/v1/filters/b", b, asContainer, "If-Match: "+tag), 412, "precondition")
	n.want(n.ask("POST", "/v1/filters/b/has", `{"keys":["y"]}`), 200, "[true]")
	n.want(n.ask("PUT", "/v1/filters/b", b, asContainer, "If-Match: *"), 200)
	n.want(n.ask("PUT", "/v1/filters/b", b, asContainer), 200)
	n.want(n.ask("PUT", "/v1/filters/new", b, asContainer, "If-None-Match: *"), 201)
	n.wantProblem(n.ask("PUT", "/v1/filters/d", thousand, "If-Match: *"), 400, "bad-request")

	n.make("md5", `{"keys":1000,"fpRate":0.01,"hash":"md5"}`)
	other, _ := n.container("md5")
	n.wantProblem(n.ask("PUT", "/v1/filters/b", other, asContainer, "If-Match: *"), 409, "mismatch")
	n.wantProblem(n.ask("POST", "/v1/filters/b/merge", other, asContainer), 409, "mismatch")
	n.want(n.ask("POST", "/v1/filters/a/merge", b, asContainer), 200)
	n.want(n.ask("POST", "/v1/filters/a/intersect", b, asContainer), 200, `"both":{"estimate":1`)

	n.wantProblem(n.ask("PUT", "/v1/filters/e", b[:len(b)-1], asContainer), 422, "corrupt")
	n.wantProblem(n.ask("PUT", "/v1/filters/e", b+"x", asContainer), 422, "corrupt")
	n.wantProblem(n.ask("PUT", "/v1/filters/e", "", asContainer), 422, "corrupt")
	bomb, err := filter.All[0].New(umbel.Goal{Keys: 1 << 26, FPRate: 0.01}, nil)
	if err != nil {
		t.Fatal(err)
	}
	large, err := wire.Append(nil, bomb.State())
	if err != nil {
		t.Fatal(err)
	}
	n.engine.SetMaxMemory(1 << 20)
	n.wantProblem(n.ask("PUT", "/v1/filters/e", string(large), asContainer), 507, "memory")
	empty := serve(t, Options{})
	empty.engine.SetMaxMemory(1 << 20)
	empty.wantProblem(empty.ask("PUT", "/v1/filters/e", string(large), asContainer), 413, "too-large")
}

func TestDeltas(t *testing.T) {
	n := serve(t, Options{})
	const asContainer, asDelta = "Content-Type: " + api.MediaContainer, "Content-Type: " + api.MediaDelta
	n.make("a", thousand)
	n.want(n.ask("POST", "/v1/filters/a/add", `{"keys":["x"]}`), 200)
	old, _ := n.container("a")
	n.want(n.ask("PUT", "/v1/filters/b", old, asContainer), 201)
	n.want(n.ask("POST", "/v1/filters/a/add", `{"keys":["y"]}`), 200)
	_, tag := n.container("a")
	delta := n.want(n.ask("POST", "/v1/filters/a/diff", old, asContainer), 200)
	if got := delta.Header.Get("Etag"); got != tag {
		t.Errorf("the delta leads to %s, want %s", got, tag)
	}
	n.want(n.ask("POST", "/v1/filters/b/patch", delta.body, asDelta), 200)
	if _, got := n.container("b"); got != tag {
		t.Errorf("the patched filter is %s, want %s", got, tag)
	}
	n.wantProblem(n.ask("POST", "/v1/filters/b/patch", delta.body, asDelta), 409, "mismatch")
	n.wantProblem(n.ask("POST", "/v1/filters/b/patch", "x", asDelta), 422, "corrupt")
	n.wantProblem(n.ask("POST", "/v1/filters/x/patch", delta.body, asDelta), 404, "not-found")
}

// A filter of which a part is still to come isn't given away: it would say no to keys.
func TestIncomplete(t *testing.T) {
	n := serve(t, Options{})
	n.make("whole", thousand)
	f, err := filter.All[0].New(umbel.Goal{Keys: 100, FPRate: 0.01}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := n.engine.Put("half", f, engine.PutOptions{Incomplete: true}); err != nil {
		t.Fatal(err)
	}
	n.want(n.ask("GET", "/v1/filters/half", ""), 200, `"incomplete":"loading"`)
	n.wantProblem(n.ask("GET", "/v1/filters/half", "", acceptContainer), 409, "incomplete")
	n.wantProblem(n.ask("POST", "/v1/filters/whole/merge", `{"name":"half"}`), 409, "incomplete")
	n.wantProblem(n.ask("POST", "/v1/filters/half/copy", `{"name":"x"}`), 409, "incomplete")
	n.wantProblem(n.ask("POST", "/v1/filters/half/intersect", `{"name":"whole"}`), 409, "incomplete")
}

// Containers that go out while keys are added hold all that were added before.
func TestContainersWhileAdding(t *testing.T) {
	n := serve(t, Options{})
	f, _, err := n.engine.Create("f", "bloom", umbel.Goal{Keys: 700_000, FPRate: 0.01}, nil)
	if err != nil {
		t.Fatal(err)
	}
	digest := func(i uint64) umbel.Digest {
		return umbel.Digest{H1: i * 0x9e3779b97f4a7c15, H2: i*0xbf58476d1ce4e5b9 + 1}
	}
	var added struct {
		sync.Mutex
		n uint64
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		ds, changed := make([]umbel.Digest, 64), make([]bool, 64)
		for i := uint64(0); ; i += 64 {
			select {
			case <-stop:
				return
			default:
			}
			for j := range ds {
				ds[j] = digest(i + uint64(j))
			}
			if _, _, err := f.Add(changed, ds); err != nil {
				t.Error(err)
				return
			}
			added.Lock()
			added.n = i + 64
			added.Unlock()
		}
	})
	for range 5 {
		added.Lock()
		before := added.n
		added.Unlock()
		b, _ := n.container("f")
		s, err := wire.Parse([]byte(b), wire.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		copied, err := filter.All.Open(s)
		if err != nil {
			t.Fatal(err)
		}
		for i := range before {
			if !copied.Has(digest(i)) {
				t.Fatalf("key %d of %d isn't in the container", i, before)
			}
		}
	}
	close(stop)
	wg.Wait()
}

func TestAccepted(t *testing.T) {
	for _, c := range []struct{ accept, media, form string }{
		{"", api.MediaJSON, ""},
		{"*/*", api.MediaJSON, ""},
		{"application/*", api.MediaJSON, ""},
		{"text/html, */*;q=0.1", api.MediaJSON, ""},
		{api.MediaContainer, api.MediaContainer, ""},
		{api.MediaContainer + `; form="packed"`, api.MediaContainer, api.FormPacked},
		{api.MediaContainer + ", " + api.MediaJSON + ";q=0.5", api.MediaContainer, ""},
		{api.MediaContainer + ";q=0.1, application/json", api.MediaJSON, ""},
		{"text/html", "", ""},
		{api.MediaContainer + ";q=0", "", ""},
		{"nonsense;;;", "", ""},
	} {
		r := &http.Request{Header: http.Header{"Accept": {c.accept}}}
		media, form, err := negotiate(r, api.MediaJSON, api.MediaContainer)
		if media != c.media || form != c.form || (err != nil) != (c.media == "") {
			t.Errorf("%q: %q, %q, %v, want %q, %q", c.accept, media, form, err, c.media, c.form)
		}
	}
}

func FuzzAccepted(f *testing.F) {
	f.Add(api.MediaContainer + `; form="packed", */*;q=0.1`)
	f.Fuzz(func(t *testing.T, accept string) {
		r := &http.Request{Header: http.Header{"Accept": {accept}}}
		if media, _, err := negotiate(r, api.MediaJSON, api.MediaContainer); (err == nil) != (media != "") {
			t.Errorf("%q, %v", media, err)
		}
	})
}

// However a stream is cut, its keys are the same.
func FuzzStream(f *testing.F) {
	f.Add(api.MediaText, []byte("a\r\nb\n\nc"), uint8(3))
	f.Add(api.MediaLines, []byte("\"a\"\n\n{\"base64\":\"Yg==\"}\n \"c\\u0064\""), uint8(7))
	f.Add(api.MediaDigests, []byte("0123456789abcdef0123456789abcdef"), uint8(1))
	f.Fuzz(func(t *testing.T, media string, body []byte, step uint8) {
		how, ok := codecs[media]
		if !ok || step == 0 {
			return
		}
		whole, wholeErr := keysIn(how, body, len(body)+1)
		parts, partsErr := keysIn(how, body, int(step))
		if len(whole) != len(parts) || (wholeErr == nil) != (partsErr == nil) {
			t.Fatalf("%d keys, %v, but %d, %v in pieces", len(whole), wholeErr, len(parts), partsErr)
		}
		for i := range whole {
			if whole[i] != parts[i] {
				t.Fatalf("key %d differs", i)
			}
		}
	})
}

// keysIn returns the keys of a body that comes in pieces.
func keysIn(how codec, body []byte, step int) (ds []umbel.Digest, err error) {
	s := stream{codec: how}
	in := bytes.NewReader(body)
	for ended := false; !ended; {
		b := make([]byte, step)
		n, readErr := in.Read(b)
		s.in = append(s.in, b[:n]...)
		ended = readErr == io.EOF
		for more := true; more; {
			var rest []byte
			rest, more, err = s.parse(s.in, ended)
			ds = append(ds, s.batch.Digests...)
			s.in = rest
			if err != nil {
				return ds, err
			}
		}
	}
	return ds, nil
}

// What requests take for what comes in and for copies they give back, also where they fail; and
// it counts while it is there.
func TestMemoryComesBack(t *testing.T) {
	n := serve(t, Options{})
	const asContainer, asDelta = "Content-Type: " + api.MediaContainer, "Content-Type: " + api.MediaDelta
	n.make("a", thousand)
	n.make("b", thousand)
	container, _ := n.container("a")
	delta := n.want(n.ask("POST", "/v1/filters/b/diff", container, asContainer), 200).body
	n.ask("PUT", "/v1/filters/c", container, asContainer)
	n.ask("PUT", "/v1/filters/c", container, asContainer, "If-Match: *")
	n.ask("PUT", "/v1/filters/c", container[:100], asContainer)
	n.ask("POST", "/v1/filters/c/merge", container, asContainer)
	n.ask("POST", "/v1/filters/c/intersect", `{"name":"a"}`)
	n.ask("POST", "/v1/filters/b/patch", delta, asDelta)
	n.ask("POST", "/v1/filters/b/patch", delta[:20], asDelta)

	hold := n.engine.NewReservation()
	used, _ := n.engine.Memory()
	n.engine.SetMaxMemory(used + 1<<20)
	if err := hold.Take(1<<20 - 100); err != nil {
		t.Fatal(err)
	}
	n.wantProblem(n.ask("PUT", "/v1/filters/d", container, asContainer), 507, "memory")
	n.wantProblem(n.ask("POST", "/v1/filters/c/intersect", `{"name":"a"}`), 507, "memory")
	hold.Release()
	if _, err := n.engine.Flush(); err != nil {
		t.Fatal(err)
	}
	if used, _ := n.engine.Memory(); used != 0 {
		t.Errorf("%d bytes are used without a filter", used)
	}
}

// A filter that lost data accepts additions, which change nothing, and refuses other changes.
func TestLostFilter(t *testing.T) {
	n := serve(t, Options{})
	n.make("f", thousand)
	n.engine.MarkLost(n.engine.Get([]byte("f")).ID())
	n.want(n.ask("POST", "/v1/filters/f/add", `{"keys":["a","b"]}`), 200, "[false,false]")
	n.want(n.ask("POST", "/v1/filters/f/has", `{"keys":["a","c"]}`), 200, "[true,true]")
	n.want(n.ask("GET", "/v1/filters/f", ""), 200, `"incomplete":"lost"`, `"fpRate":1,`)
	n.want(n.ask("GET", "/v1/filters", ""), 200, `"incomplete":"lost"`)
	for path, body := range map[string]string{"clear": "", "fold": `{"factor":2}`, "copy": `{"name":"x"}`} {
		n.wantProblem(n.ask("POST", "/v1/filters/f/"+path, body), 409, "incomplete", "create it again")
	}
	n.wantProblem(n.ask("GET", "/v1/filters/f", "", acceptContainer), 409, "incomplete", "create it again")
	n.want(n.ask("DELETE", "/v1/filters/f", ""), 204)
}

// A download that finds no room on the disk for its copy is refused until there is room.
func TestContainerOnAFullDisk(t *testing.T) {
	d := disktest.NewDisk()
	n := serve(t, Options{Dir: d.Dir()})
	n.make("large", `{"keys":700000,"fpRate":0.01}`)
	for _, op := range []disktest.Op{disktest.Create, disktest.Write} {
		d.Before(func(is disktest.Op, _ string) error {
			if is == op {
				return syscall.ENOSPC
			}
			return nil
		})
		for _, accept := range []string{acceptContainer, acceptContainer + ";form=packed"} {
			if r := n.wantProblem(n.ask("GET", "/v1/filters/large", "", accept), 503, "busy"); r.Header.Get("Retry-After") == "" {
				t.Errorf("%s fails: no Retry-After", op)
			}
		}
	}
	d.Before(nil)
	n.container("large")
}

// A snapshot for which the disk has no room is refused in the same way.
func TestSnapshotOnAFullDisk(t *testing.T) {
	n := serve(t, Options{Snapshot: func(context.Context) error { return fmt.Errorf("a piece: %w", syscall.ENOSPC) }})
	if r := n.wantProblem(n.ask("POST", "/v1/snapshot", ""), 503, "busy"); r.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
}

// An internal error is logged, except that of a snapshot, which the store has logged.
func TestInternalErrorsAreLogged(t *testing.T) {
	var log strings.Builder
	fails := func(context.Context) error { return fmt.Errorf("a piece: %w", fs.ErrPermission) }
	n := serve(t, Options{
		Snapshot: fails, Backup: func(ctx context.Context, _ io.Writer) error { return fails(ctx) },
		Log: slog.New(slog.NewTextHandler(&log, nil)),
	})
	n.wantProblem(n.ask("POST", "/v1/snapshot", ""), 500, "internal", "permission denied")
	if log.Len() > 0 {
		t.Errorf("a failed snapshot is logged again: %s", &log)
	}
	n.wantProblem(n.ask("GET", "/v1/backup", ""), 500, "internal")
	if !strings.Contains(log.String(), "http request failed") {
		t.Errorf("a failed backup is not logged: %q", &log)
	}
}

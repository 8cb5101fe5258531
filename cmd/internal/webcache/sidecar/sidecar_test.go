package sidecar

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/mod/sumdb/note"

	"github.com/umbel-filters/umbel/internal/await"
	"github.com/umbel-filters/umbel/internal/freeport"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/siblings"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// begin runs a sidecar until the test ends, and returns where it listens.
func begin(t *testing.T, change func(*Config)) Addresses {
	t.Helper()
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=300")
		w.Write(make([]byte, 100_000))
	}))
	t.Cleanup(origin.Close)
	key, _, err := share.NewKey("example.org/north")
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(origin.URL)
	if err != nil {
		t.Fatal(err)
	}
	c := Config{
		Origin: u, Listen: "127.0.0.1:0", Status: "127.0.0.1:0",
		Mesh: siblings.Options{Key: key, Token: "0123456789abcdef", Period: 100 * time.Millisecond},
	}
	change(&c)
	ctx, stop := context.WithCancel(context.Background())
	ready, ended := make(chan Addresses, 1), make(chan error, 1)
	go func() { ended <- Run(ctx, c, func(a Addresses) { ready <- a }) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
	select {
	case a := <-ready:
		return a
	case err := <-ended:
		ended <- nil
		t.Fatal(err)
		return Addresses{}
	}
}

func get(t *testing.T, url string, headers ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	if r.Header.Get("Host") != "" {
		r.Host = r.Header.Get("Host")
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

// awaitHeld waits until the sidecar publishes n responses, and at most that.
func awaitHeld(t *testing.T, a Addresses, least, most int) {
	t.Helper()
	await.True(t, fmt.Sprintf("%d to %d responses are published", least, most), func() bool {
		_, body := get(t, "http://"+a.Status+"/status.json")
		var s siblings.Status
		if err := json.Unmarshal([]byte(body), &s); err != nil {
			t.Fatal(err)
		}
		return s.Held >= least && s.Held <= most
	})
}

// What the logs of caches say is removed, is published no longer.
func TestLogs(t *testing.T) {
	d := t.TempDir()
	store, kill := filepath.Join(d, "store.log"), filepath.Join(d, "expkill.log")
	a := begin(t, func(c *Config) {
		c.SquidStoreLog, c.VarnishLog, c.Mesh.Host = store, kill, "www.example.org"
	})
	for i := range 10 {
		get(t, fmt.Sprintf("http://%s/%d", a.Cache, i), "X-Varnish", fmt.Sprint(100+i))
	}
	awaitHeld(t, a, 10, 10)
	const line = "1732665600.123 RELEASE 00 0000001A 5C4B9B2E0A1F3D7C6E8A9B0C1D2E3F40  200 1732665500 -1 1732669100 text/plain 10/10 GET http://cache:3128/%d\n"
	if err := os.WriteFile(store, fmt.Appendf(nil, line+line, 3, 4), 0o666); err != nil {
		t.Fatal(err)
	}
	awaitHeld(t, a, 8, 8)
	const killed = "        18 ExpKill        b LRU x=%d\n"
	if err := os.WriteFile(kill, fmt.Appendf(nil, killed+killed+killed, 105, 106, 999), 0o666); err != nil {
		t.Fatal(err)
	}
	awaitHeld(t, a, 6, 6)
	_, page := get(t, "http://"+a.Status+"/")
	for _, want := range []string{"example.org/north", "6 responses", "10: 0 from siblings, 10 from the origin"} {
		if !strings.Contains(page, want) {
			t.Errorf("the status page does not contain %q:\n%s", want, page)
		}
	}
}

// Varnish logs what it removes for lack of memory.
func TestVarnish(t *testing.T) {
	for _, program := range []string{"varnishd", "varnishlog"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed: apt-get install varnish", program)
		}
	}
	d, kill := t.TempDir(), filepath.Join(t.TempDir(), "expkill.log")
	a := begin(t, func(c *Config) { c.VarnishLog = kill })
	address, err := freeport.Addr()
	if err != nil {
		t.Fatal(err)
	}
	run(t, nil, "varnishd", "-F", "-j", "none", "-n", d, "-a", address, "-b", a.Cache, "-s", "malloc,1m", "-p", "vsl_mask=+ExpKill")
	await.True(t, "varnishd answers", func() bool {
		res, err := http.Get("http://" + address + "/first")
		if err == nil {
			res.Body.Close()
		}
		return err == nil
	})
	log, err := os.Create(kill)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	run(t, log, "varnishlog", "-u", "-n", d, "-g", "raw", "-i", "ExpKill")
	i := 0
	await.True(t, "varnishlog reads", func() bool {
		get(t, fmt.Sprintf("http://%s/%d", address, i))
		i++
		info, err := log.Stat()
		return err == nil && info.Size() > 0
	})
	for i := range 30 {
		get(t, fmt.Sprintf("http://%s/more/%d", address, i))
	}
	// A megabyte holds ten responses; 30 were stored after varnishlog began.
	_, body := get(t, "http://"+a.Status+"/status.json")
	var s siblings.Status
	if err := json.Unmarshal([]byte(body), &s); err != nil {
		t.Fatal(err)
	}
	awaitHeld(t, a, 1, int(s.Origin)-20)
}

// run runs a program until the test ends.
func run(t *testing.T, output *os.File, name string, arguments ...string) {
	t.Helper()
	c := exec.Command(name, arguments...)
	if output != nil {
		c.Stdout = output
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Process.Signal(os.Interrupt)
		c.Wait()
	})
}

// Siblings read the publication from a listener of its own, with the token.
func TestPublishListen(t *testing.T) {
	a := begin(t, func(c *Config) { c.Publish = "127.0.0.1:0" })
	if status, _ := get(t, "http://"+a.Publish+siblings.Path+"/head"); status != http.StatusForbidden {
		t.Errorf("without the token: status %d, want 403", status)
	}
	if status, body := get(t, "http://"+a.Publish+siblings.Path+"/head", "Authorization", "Bearer 0123456789abcdef"); status != http.StatusOK || !strings.Contains(body, "example.org/north") {
		t.Errorf("with the token: status %d, %q", status, body)
	}
	if status, body := get(t, "http://"+a.Cache+siblings.Path+"/head", "Authorization", "Bearer 0123456789abcdef"); status != http.StatusOK || len(body) != 100_000 {
		t.Errorf("the listener of the cache serves the publication: status %d", status)
	}
}

func TestParse(t *testing.T) {
	key, _, err := share.NewKey("example.org/south")
	if err != nil {
		t.Fatal(err)
	}
	read := func(s string) (note.Verifier, error) {
		if s != "south.pub" {
			return nil, fmt.Errorf("%q is no key", s)
		}
		return key.Verifier, nil
	}
	if p, err := ParsePeer("south=http://10.0.0.2:8791,south.pub,2", read); err != nil || p.Name != "south" || p.Zone != 2 || p.URL.Host != "10.0.0.2:8791" {
		t.Errorf("%+v, %v", p, err)
	}
	for _, s := range []string{
		"", "south", "south=http://10.0.0.2", "south=http://10.0.0.2/x,south.pub", "south=10.0.0.2,south.pub", "south=http://10.0.0.2,other",
		"south=http://10.0.0.2,south.pub,-1", "south=http://10.0.0.2,south.pub,1,1", "=http://10.0.0.2,south.pub", "south=http://u:p@10.0.0.2,south.pub",
	} {
		if p, err := ParsePeer(s, read); err == nil {
			t.Errorf("%q: %+v, want an error", s, p)
		}
	}
	if p, err := ParseSquid("a=http://10.0.0.4:3128,1"); err != nil || p.Name != "a" || p.Zone != 1 || p.URL.Host != "10.0.0.4:3128" || p.Squid == nil {
		t.Errorf("%+v, %v", p, err)
	}
	for _, s := range []string{"", "a", "a=", "=http://10.0.0.4:3128", "a=http://10.0.0.4:3128/x", "a=http://10.0.0.4:3128,x", "a=http://10.0.0.4:3128,1,1"} {
		if p, err := ParseSquid(s); err == nil {
			t.Errorf("%q: %+v, want an error", s, p)
		}
	}
	for _, s := range []string{"", "short", "0123456789 abcdef", "0123456789abcde\x00f"} {
		if _, err := ParseToken([]byte(s)); err == nil {
			t.Errorf("token %q: want an error", s)
		}
	}
	if token, err := ParseToken([]byte("0123456789abcdef\n")); err != nil || token != "0123456789abcdef" {
		t.Errorf("%q, %v", token, err)
	}
}

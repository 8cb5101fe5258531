package node

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/http/api"
)

// mappedNode starts a node with the address a:1 in a slot map. Slots 0 to 8191 are its own: b is there (3300), and a (15495) is not.
func mappedNode(t *testing.T, log *slog.Logger) (n *Node, c Config) {
	t.Helper()
	c = testConfig(t)
	c.SlotMap, c.Advertise = filepath.Join(t.TempDir(), "slots"), "a:1"
	writeMap(t, c, "0-8191 a:1 http://a\n8192-16383 z:2 http://z\n")
	return startedWith(t, c, log), c
}

func writeMap(t *testing.T, c Config, text string) {
	t.Helper()
	if err := os.WriteFile(c.SlotMap, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// send sends a request with a body to a node over HTTP.
func send(t *testing.T, n *Node, method, path, media, body string, header ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+n.HTTP().String()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", media)
	if len(header) > 0 {
		r.Header.Set(header[0], header[1])
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(b)
}

// A map that is reloaded redirects clients at once; one with a fault changes nothing; one without the node redirects all.
func TestSlotMapReload(t *testing.T) {
	var log bytes.Buffer
	n, c := mappedNode(t, slog.New(slog.NewTextHandler(&log, nil)))
	r := dial(t, n, nil)
	r.Expect("BF.ADD b x", ":1", "BF.ADD a x", "-MOVED 15495 z:2", "BF.EXISTS a x", "-MOVED 15495 z:2")
	if got := r.Line("INFO cluster"); !strings.Contains(got, "cluster_enabled:1") {
		t.Errorf("INFO cluster: %s", got)
	}
	if got := r.Line("INFO server"); !strings.Contains(got, "redis_mode:cluster") {
		t.Errorf("INFO server: %s", got)
	}
	writeMap(t, c, "0-16383 a:1\n")
	if err := n.Reload(c); err != nil {
		t.Fatal(err)
	}
	r.Expect("BF.ADD a x", ":1")
	writeMap(t, c, "0-9 a:1\n")
	if err := n.Reload(c); err == nil || !strings.Contains(err.Error(), "no line has slot 10-16383") {
		t.Errorf("a map with a gap: %v", err)
	}
	r.Expect("BF.ADD a x", ":0")
	writeMap(t, c, "0-16383 z:2\n")
	if err := n.Reload(c); err != nil {
		t.Fatal(err)
	}
	r.Expect("BF.EXISTS a x", "-MOVED 15495 z:2", "BF.ADD b x", "-MOVED 3300 z:2", "DBSIZE", ":2")
	if !strings.Contains(log.String(), "slots-left") {
		t.Errorf("the log has no event slots-left:\n%s", &log)
	}
}

// Over HTTP, keys and changes of filters of other nodes are refused with the address; filters that are here can be fetched and deleted.
func TestSlotMapOverHTTP(t *testing.T) {
	n, _ := mappedNode(t, slog.New(slog.DiscardHandler))
	want := func(status int, word, method, path, media, body string, header ...string) {
		t.Helper()
		got, text := send(t, n, method, "/v1/filters/"+path, media, body, header...)
		if got != status || !strings.Contains(text, word) {
			t.Errorf("%s %s: %d %s, want %d %s", method, path, got, text, status, word)
		}
	}
	want(201, `"name":"b"`, "PUT", "b", api.MediaJSON, `{"keys":100}`)
	want(421, "/problems/elsewhere", "PUT", "a", api.MediaJSON, `{"keys":100}`)
	want(421, "to http://z", "POST", "a/add", api.MediaJSON, `{"keys":["x"]}`)
	want(421, "/problems/elsewhere", "POST", "a/has", api.MediaJSON, `{"keys":["x"]}`)
	want(421, "/problems/elsewhere", "POST", "b/copy", api.MediaJSON, `{"name":"a"}`)
	want(421, "/problems/elsewhere", "PATCH", "b", api.MediaMerge, `{"name":"a"}`)
	want(421, "/problems/elsewhere", "GET", "a", api.MediaJSON, "")
	want(201, `"name":"a"`, "PUT", "a", api.MediaJSON, `{"keys":100}`, api.HeaderMove, "1")
	want(200, `"name":"a"`, "GET", "a", api.MediaJSON, "")
	want(204, "", "DELETE", "a", api.MediaJSON, "")

	if status, text := send(t, n, "PUT", "/v1/slots", api.MediaText, "0-8191 a:1 http://a\n8192-16383 z:2 http://z\nmoving 3300\n"); status != 204 {
		t.Fatalf("%d %s", status, text)
	}
	want(503, "/problems/read-only", "POST", "b/add", api.MediaJSON, `{"keys":["x"]}`)
	want(503, "/problems/read-only", "DELETE", "b", api.MediaJSON, "")
	want(200, "false", "POST", "b/has", api.MediaJSON, `{"keys":["x"]}`)
	dial(t, n, nil).Want("BF.ADD b x", "-TRYAGAIN ")
	if status, text := send(t, n, "PUT", "/v1/slots", api.MediaText, "0-8191 a:1"); status != 400 || !strings.Contains(text, "8192-16383") {
		t.Errorf("a map with a gap: %d %s", status, text)
	}
	if _, text := get(t, n, "/v1/slots"); text != "0-8191 a:1 http://a\n8192-16383 z:2 http://z\nmoving 3300\n" {
		t.Errorf("the map in force is %q", text)
	}
}

// A map without the node, and settings that name none, are refused at the start with the remedy.
func TestSlotMapFaults(t *testing.T) {
	for _, c := range []struct{ resp, advertise, text, want string }{
		{"127.0.0.1:0", "", "0-16383 a:1\n", "needs advertise"},
		{":6380", "", "0-16383 a:1\n", "needs advertise"},
		{"off", "", "0-16383 a:1\n", "resp is off"},
		{"127.0.0.1:0", "a", "0-16383 a:1\n", "want host:port"},
		{"127.0.0.1:0", "b:1", "0-16383 a:1\n", "no line has b:1"},
		{"127.0.0.1:0", "a:1", "0-9 a:1\n", "no line has slot 10-16383"},
	} {
		config := testConfig(t)
		config.RESP, config.Advertise, config.AllowInsecureNetwork = c.resp, c.advertise, true
		config.SlotMap = filepath.Join(t.TempDir(), "slots")
		writeMap(t, config, c.text)
		n, err := Start(t.Context(), config, slog.New(slog.DiscardHandler), nil)
		if err == nil {
			stopped(t, n)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

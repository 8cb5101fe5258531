package node

import (
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// The commands that the welcome text prints work.
func TestWelcome(t *testing.T) {
	n := started(t, testConfig(t))
	var b strings.Builder
	welcome(&b, n)
	r := dial(t, n, nil)
	for _, m := range regexp.MustCompile(`(?m)^  redis-cli -p (\d+) (.*)$`).FindAllStringSubmatch(b.String(), -1) {
		if !strings.HasSuffix(n.RESP().String(), ":"+m[1]) {
			t.Errorf("port %s isn't that of %v", m[1], n.RESP())
		}
		r.Want(m[2], ":1")
	}
	for _, want := range []string{"umbel is ready with 0 filters of 0 B.\n", "browsers  http://" + n.HTTP().String() + "/\n", "Redis clients " + strings.Repeat(" ", 11) + n.RESP().String() + "\n", n.config.Data + ", durability " + n.config.Durability + "\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the text has no %q: %s", want, b.String())
		}
	}
	urls := regexp.MustCompile(`http://\S+/v1/filters`).FindAllString(b.String(), -1)
	if len(urls) != 1 {
		t.Fatalf("the text is %s", b.String())
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get(urls[0])
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Errorf("%s: %s", urls[0], answer.Status)
	}
}

// A listener on all addresses is reached by localhost.
func TestReachable(t *testing.T) {
	for addr, want := range map[string]string{"0.0.0.0:1": "localhost:1", "[::]:2": "localhost:2", "127.0.0.1:3": "127.0.0.1:3", "[::1]:4": "[::1]:4"} {
		a, err := net.ResolveTCPAddr("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		if got := reachable(a); got != want {
			t.Errorf("%s is reached by %s, want %s", addr, got, want)
		}
	}
	if got := reachable(&net.UnixAddr{Name: "/run/umbel.sock", Net: "unix"}); got != "/run/umbel.sock" {
		t.Errorf("a socket is reached by %s", got)
	}
}

package node

import (
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

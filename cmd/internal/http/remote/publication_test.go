package remote

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
)

// The token goes to the server of the URL and not to another one.
func TestPublicationClient(t *testing.T) {
	got := map[string]string{}
	record := func(name string, next func() string) *httptest.Server {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got[name] = r.Header.Get("Authorization")
			if next != nil {
				http.Redirect(w, r, next(), http.StatusFound)
			}
		}))
		t.Cleanup(s.Close)
		return s
	}
	other := record("other", nil)
	node := record("node", func() string { return other.URL })
	base, err := url.Parse(node.URL)
	if err != nil {
		t.Fatal(err)
	}
	c, err := PublicationClient(base, Options{Token: "ut_secret"})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := c.Get(node.URL + "/head")
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	c.CloseIdleConnections()
	if got["node"] != "Bearer ut_secret" || got["other"] != "" || len(got) != 2 {
		t.Errorf("authorization %q", got)
	}
}

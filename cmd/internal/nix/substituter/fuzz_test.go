package substituter_test

import (
	"net/http"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/nix/nixcache"
	"github.com/umbel-filters/umbel/cmd/internal/nix/substituter"
	"github.com/umbel-filters/umbel/filter/foreign/nixbloom"
)

// FuzzNarinfo passes what an upstream sends as a narinfo on unchanged, or not at all. Only one of the requested path is
// passed on.
func FuzzNarinfo(f *testing.F) {
	a := newCache(0, 0)
	s := server(f, network{"a": a}, substituter.Upstream{URL: address("a"), Sibling: true})
	f.Fuzz(func(t *testing.T, body []byte) {
		a.lie = func(w http.ResponseWriter, _ *http.Request) bool {
			w.Write(body)
			return true
		}
		w := get(s, narinfo(0))
		if w.Code == notFound {
			return
		}
		if w.Code != ok || w.Body.String() != string(body) {
			t.Fatalf("status %d, body %q", w.Code, w.Body)
		}
		if h, err := nixbloom.ParsePath(nixcache.Field(body, "StorePath")); err != nil || h != hash(0) {
			t.Fatalf("the narinfo of %v is passed on", h)
		}
	})
}

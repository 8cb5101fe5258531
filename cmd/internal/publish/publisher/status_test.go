package publisher

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/publish/signing"
	"github.com/umbel-filters/umbel/cmd/internal/service/status"
	"github.com/umbel-filters/umbel/cmd/internal/testing/statustest"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/share"
)

// Text, JSON and metrics of a publication state the version and the size of its head; without a head there is an error.
func TestPublicationStatus(t *testing.T) {
	k, _, err := share.NewKey("example.org/words")
	if err != nil {
		t.Fatal(err)
	}
	key, store := signing.Key{Key: k}, new(share.Memory)
	if r := reportOf(store, key); r.Error == "" || r.Version != 0 || r.Name != "example.org/words" {
		t.Errorf("without a head: %+v", r)
	}
	p, err := share.NewPublisher(t.Context(), share.PublisherOptions{Store: store, Key: k, Kinds: filter.All})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close(context.Background())
	for _, key := range []string{"a", "b", "c"} {
		f, err := bloom.New(1000, 0.01)
		if err != nil {
			t.Fatal(err)
		}
		f.AddString(key)
		if _, err := p.Publish(t.Context(), f.State()); err != nil {
			t.Fatal(err)
		}
	}
	r := reportOf(store, key)
	if r.Version != p.Head().Version || !r.Expires.Equal(p.Head().Expires()) || r.Error != "" {
		t.Errorf("the report is %+v, and the head %+v", r, p.Head())
	}
	statustest.Same(t, r, []uint64{r.Version})
	w := httptest.NewRecorder()
	status.Page(func() status.Report { return r }).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/status", nil))
	if w.Header().Get("Cache-Control") != "no-store" {
		t.Error("the status may be stored")
	}
}

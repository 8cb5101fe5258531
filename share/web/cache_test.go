package web_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/share/sharetest"
	"github.com/umbel-filters/umbel/share/web"
)

// Many subscribers behind one cache cost the origin about as much as one: a request for each head and
// each object.
func TestManyBehindCache(t *testing.T) {
	const subscribers, versions, m = 50, 8, 1 << 20
	begin := time.Now()
	var heads, objects atomic.Int64
	s := new(share.Memory)
	handler := web.NewHandler(s, web.HandlerOptions{})
	base := varnish(t, serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/objects/") {
			objects.Add(1)
		} else {
			heads.Add(1)
		}
		handler.ServeHTTP(w, r)
	})))
	p, verifier := sharetest.Publisher(t, s)
	f := sharetest.Set(t, m, 0, 10_000)
	sharetest.Publish(t, p, f)
	all := make([]*share.Subscriber, subscribers)
	for i := range all {
		all[i] = sharetest.Subscriber(t, client(t, base), verifier)
		sharetest.Run(t, all[i], time.Second)
	}
	for v := range uint64(versions) {
		for _, sub := range all {
			sharetest.Arrives(t, sub, f)
		}
		if v+1 < versions {
			f.Add(f.Hasher().HashUint64(1e9 + v))
			sharetest.Publish(t, p, f)
		}
	}
	t.Logf("%d subscribers, %d versions: the origin had %d requests for heads and %d for objects", subscribers, versions, heads.Load(), objects.Load())
	// Each version has a head and a delta; the first has an index and a snapshot. The cache has the head, and the replies
	// to requests that wait for another one than the last or the one before, for a second each.
	most := 4*versions + 3*int64(time.Since(begin)/time.Second)
	if n := heads.Load(); n > most {
		t.Errorf("%d requests for heads, want at most %d", n, most)
	}
	if n := objects.Load(); n > 2*versions {
		t.Errorf("%d requests for objects, want at most %d", n, 2*versions)
	}
	for _, sub := range all {
		if c := sub.Counters(); c.Resyncs != 0 {
			t.Fatalf("%+v", c)
		}
	}
}

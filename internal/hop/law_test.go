package hop

import (
	"crypto/tls"
	"os"
	"testing"

	"github.com/umbel-filters/umbel/internal/hop/hoptest"
)

// What passes through a Proxy arrives as it was sent. UMBEL_LONG=1 makes 100,000 exchanges.
func TestLaw(t *testing.T) {
	exchanges := 400
	if os.Getenv("UMBEL_LONG") != "" {
		exchanges = 35_000
	}
	for _, c := range []struct {
		name   string
		http2  bool
		origin func(testing.TB) *hoptest.Origin
	}{
		{"HTTP/1", false, hoptest.NewOrigin}, {"HTTP/2", true, hoptest.NewOrigin}, {"TLS", false, hoptest.NewTLSOrigin},
	} {
		origin := c.origin(t)
		w := newWorld(t, origin.URL, c.http2, func(w *world) {
			w.transport.TLSClientConfig = &tls.Config{InsecureSkipVerify: true}
			w.transport.ForceAttemptHTTP2 = true
		})
		hoptest.Law{
			Proxy: w.Listener.Addr().String(), HTTP2: c.http2, Origin: origin, Exchanges: exchanges, Seed: 1,
			Exceptions: []hoptest.Exception{{Of: hoptest.Both, Names: "Via", Change: hoptest.Added, Why: "Proxy leaves it to its user"}},
		}.Run(t)
		if t.Failed() {
			t.Fatalf("with %s", c.name)
		}
	}
}

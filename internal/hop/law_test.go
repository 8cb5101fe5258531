package hop

import (
	"os"
	"testing"

	"github.com/umbel-filters/umbel/internal/hop/hoptest"
)

// What passes through a Proxy arrives as it was sent. UMBEL_LONG=1 makes 100,000 exchanges.
func TestLaw(t *testing.T) {
	exchanges := 400
	if os.Getenv("UMBEL_LONG") != "" {
		exchanges = 50_000
	}
	for _, http2 := range []bool{false, true} {
		origin := hoptest.NewOrigin(t)
		w := newWorld(t, origin.URL, http2)
		hoptest.Law{
			Proxy: w.Listener.Addr().String(), HTTP2: http2, Origin: origin, Exchanges: exchanges, Seed: 1,
			Exceptions: []hoptest.Exception{{Of: hoptest.Both, Names: "Via", Change: hoptest.Added, Why: "Proxy leaves it to its user"}},
		}.Run(t)
	}
}

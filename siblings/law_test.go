package siblings_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/umbel-filters/umbel/internal/hop/hoptest"
)

// What passes through the sidecar arrives as it was sent, but for the exceptions of docs/siblings.md. UMBEL_LONG=1 makes 100,000 exchanges, half of them
// with faults of clients only, none of which is one of the origin.
func TestLaw(t *testing.T) {
	exchanges := 400
	if os.Getenv("UMBEL_LONG") != "" {
		exchanges = 50_000
	}
	for _, clients := range []bool{false, true} {
		t.Run(fmt.Sprint("clients=", clients), func(t *testing.T) {
			origin := hoptest.NewOrigin(t)
			n, addr := sidecarOf(t, origin.URL.Host, nil)
			law := hoptest.Law{
				Proxy: addr, Origin: origin, Exchanges: exchanges, Seed: 2,
				Exceptions: []hoptest.Exception{
					{Of: hoptest.Answer, Names: "Via", Change: hoptest.Added, Why: "a gateway may leave it out of answers (RFC 9110, section 7.6.3)"},
					{Of: hoptest.Answer, Names: "Cache-Status", Change: hoptest.Appended, Why: "states where the answer comes from (RFC 9211)"},
					{Of: hoptest.Answer, Names: "Umbel-Stamp", Change: hoptest.Replaced, Why: "states the age of the answer for siblings"},
				},
			}
			if clients {
				law.Healthy = func() error {
					if s := n.Status(); s.Errors > 0 || s.Outage != nil {
						return fmt.Errorf("%d errors, outage %v", s.Errors, s.Outage)
					}
					return nil
				}
			}
			law.Run(t)
		})
	}
}

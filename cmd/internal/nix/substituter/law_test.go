package substituter_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/nix/substituter"
	"github.com/umbel-filters/umbel/internal/hop/hoptest"
)

// TestLaw: what passes through arrives as it was sent, but for the exceptions of docs/nix.md. UMBEL_LONG=1 makes 100,000 exchanges.
func TestLaw(t *testing.T) {
	exchanges := 400
	if os.Getenv("UMBEL_LONG") != "" {
		exchanges = 100_000
	}
	origin := hoptest.NewOrigin(t)
	transport := substituter.NewTransport(time.Minute)
	t.Cleanup(transport.CloseIdleConnections)
	s, err := substituter.New(substituter.Options{Upstreams: []substituter.Upstream{{URL: origin.URL}}, Transport: transport})
	if err != nil {
		t.Fatal(err)
	}
	const own = "Cookie Authorization Cache-Control User-Agent Accept Accept-Encoding X-Forwarded-For X-Forwarded-Proto Forwarded X-Real-IP Via Content-Type " +
		"Referer X-Random X-Lower X_Under X!#$%&'*+.^`|~ Date From Origin Priority X-Fold"
	hoptest.Law{
		Proxy: listen(t, s), Origin: origin, Exchanges: exchanges, Seed: 3, Files: "/nar",
		Exceptions: []hoptest.Exception{
			{Of: hoptest.Request, Names: own, Change: hoptest.Replaced, Why: "are for this server; only Range and If-Range pass"},
			{Of: hoptest.Answer, Names: "Via", Change: hoptest.Added, Why: "a gateway may leave it out of answers (RFC 9110, section 7.6.3)"},
		},
		Healthy: func() error {
			if u := s.Status().Upstreams[0]; u.Failures > 0 {
				return fmt.Errorf("%d failures", u.Failures)
			}
			return nil
		},
	}.Run(t)
	if n := s.Status().NARs; int(n) < exchanges/2 {
		t.Errorf("%d NARs of %d requests", n, exchanges)
	}
}

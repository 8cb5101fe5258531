package siblings_test

import (
	"net/url"
	"testing"

	"github.com/umbel-filters/umbel/internal/hop/hoptest"
)

// What passes through the sidecar passes unchanged, but for the exceptions of docs/siblings.md, and a fault is noted as one of the origin
// if it is.
func TestLaw(t *testing.T) {
	var n *node
	r := hoptest.Run(t, hoptest.Options{
		Proxy: func(t *testing.T, origin *url.URL) (addr string) {
			n, addr = sidecarOf(t, origin.Host, nil)
			return addr
		},
		Request: hoptest.Exceptions{Extended: []string{"via"}},
		Answer:  hoptest.Exceptions{Extended: []string{"cache-status"}, Own: []string{"umbel-stamp"}},
	})
	if got := n.Status().Errors; int(got) != r.FailedOrigins {
		t.Errorf("%d errors, want %d", got, r.FailedOrigins)
	}
	t.Logf("%+v", r)
}

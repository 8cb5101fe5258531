package siblings_test

import (
	"errors"
	"testing"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/siblings"
)

// newKey returns a new key.
func newKey(t *testing.T, name string) share.Key {
	t.Helper()
	k, _, err := share.NewKey(name)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// Each error of wrong options says what is wrong, and wraps umbel.ErrGoal.
func TestOptions(t *testing.T) {
	own, other := newKey(t, "example.org/own"), newKey(t, "example.org/other")
	u := address("http://127.0.0.1:1")
	peers := func(list ...siblings.PeerOptions) func(*siblings.Options) {
		return func(o *siblings.Options) { o.Peers = list }
	}
	for want, change := range map[string]func(*siblings.Options){
		"a mesh needs a key":                       func(o *siblings.Options) { o.Key = share.Key{} },
		"the token has 1 bytes, want at least 16":  func(o *siblings.Options) { o.Token = "a" },
		"the period is 1ns, want 100ms to 1m":      func(o *siblings.Options) { o.Period = time.Nanosecond },
		"the rate is 2, want 1e-6 to 0.5":          func(o *siblings.Options) { o.Rate = 2 },
		"peer 1 of 1 needs a name":                 peers(siblings.PeerOptions{URL: u}),
		"peer a: the address is missing":           peers(siblings.PeerOptions{Name: "a", Verifier: other.Verifier}),
		"peer example.org/own is this node itself": peers(siblings.PeerOptions{URL: u, Verifier: own.Verifier}),
		"peer a needs a public key, or the digest of a Squid": peers(siblings.PeerOptions{
			Name: "a", URL: u,
		}),
		"peer a has a public key and the digest of a Squid, want one of them": peers(siblings.PeerOptions{
			Name: "a", URL: u, Verifier: other.Verifier, Squid: source{},
		}),
		"two peers have the name example.org/other, want different names": peers(
			siblings.PeerOptions{URL: u, Verifier: other.Verifier}, siblings.PeerOptions{Name: "example.org/other", URL: u, Squid: source{}},
		),
	} {
		o := siblings.Options{Key: own, Token: token}
		change(&o)
		if _, err := siblings.New(t.Context(), o); !errors.Is(err, umbel.ErrGoal) || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// A peer without a name has the name of its public key.
func TestPeerName(t *testing.T) {
	o := siblings.Options{Key: newKey(t, "example.org/own"), Token: token, Peers: []siblings.PeerOptions{
		{URL: address("http://127.0.0.1:1"), Verifier: newKey(t, "example.org/other").Verifier},
	}}
	m, err := siblings.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Status().Peers[0].Name; got != "example.org/other" || o.Peers[0].Name != "" {
		t.Errorf("the peer is %q, and in the options %q", got, o.Peers[0].Name)
	}
}

package siblings

import (
	"fmt"
	"net/url"
	"slices"

	"golang.org/x/mod/sumdb/note"
)

// PeerOptions describe a sibling.
type PeerOptions struct {
	// Name is what the status, the log and Mesh.Holds call it. No other peer has it. If it is empty, it is the name of
	// the Verifier.
	Name string
	// URL is the address of its sidecar.
	URL *url.URL
	// Verifier is the key of its publication, which is not the one of this node.
	Verifier note.Verifier
	// Squid has the cache digest of a sibling that is a Squid and has no sidecar. Then there is no Verifier, URL is the
	// address of its proxy, and it is requested from as from a proxy. Only http URLs are.
	Squid SquidSource
	// Zone is how far away it is: siblings of smaller zones are tried first.
	Zone int
}

// completePeers sets the names of peers, and returns an error for peers that no mesh can have.
func (o *Options) completePeers() error {
	o.Peers = slices.Clone(o.Peers) // those of the caller stay as they are
	names := map[string]bool{}
	for i := range o.Peers {
		p := &o.Peers[i]
		if p.Name == "" && p.Verifier != nil {
			p.Name = p.Verifier.Name()
		}
		err := checkAddress(p.URL)
		switch {
		case p.Name == "":
			return fmt.Errorf("peer %d of %d needs a name", i+1, len(o.Peers))
		case err != nil:
			return fmt.Errorf("peer %s: %w", p.Name, err)
		case p.Verifier == nil && p.Squid == nil:
			return fmt.Errorf("peer %s needs a public key, or the digest of a Squid", p.Name)
		case p.Verifier != nil && p.Squid != nil:
			return fmt.Errorf("peer %s has a public key and the digest of a Squid, want one of them", p.Name)
		case p.Verifier != nil && sameKey(p.Verifier, o.Key.Verifier):
			return fmt.Errorf("peer %s is this node itself", p.Name)
		case names[p.Name]:
			return fmt.Errorf("two peers have the name %s, want different names", p.Name)
		}
		names[p.Name] = true
	}
	return nil
}

// sameKey reports whether two public keys are the same: name and hash, as in the lines of signatures.
func sameKey(a, b note.Verifier) bool { return a.Name() == b.Name() && a.KeyHash() == b.KeyHash() }

// Package permit asks what the user of a connection may, where the right that a command has
// in its table doesn't tell.
package permit

import (
	"github.com/umbel-filters/umbel/cmd/internal/access"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/resp"
)

// Replies to who may not. The first has Redis' words.
const (
	NoKey   = "NOPERM this user has no permissions to access one of the keys used as arguments"
	NoSeeds = "NOPERM the filter's hash has a secret seed, so this is for administrators"
)

// May reports whether the client's user has a right over a name, or over all names if it is
// nil. Where there are no users everyone may do all.
func May(c *resp.Conn, r access.Right, name []byte) bool {
	u, ok := c.User.(*access.User)
	return !ok || u.May(r, name)
}

// All reports whether the client may know all of a filter, the seed of its hash included, as
// who has a container or a delta does, and answers with an error otherwise. Who sends digests
// must be as much trusted: it chooses cells.
func All(c *resp.Conn, f *engine.Filter) bool {
	if f.Hasher().Secret() && !May(c, access.Admin, nil) {
		c.Error(NoSeeds)
		return false
	}
	return true
}

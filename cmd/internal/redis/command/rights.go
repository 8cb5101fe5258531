package command

import (
	"fmt"

	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/node/access"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
)

// Replies to denied commands. NoKey is Redis' text and the beginning of NeedsRight.
const (
	NoKey   = "NOPERM this user has no permissions to access one of the keys used as arguments"
	NoSeeds = "NOPERM the seed of the filter's hash is secret; only administrators may do this"
)

// May reports whether the client's user has a right for a name, or for all names if it is nil. A
// client without a user has no rights; a server without users gives Everyone to its clients.
func May(c *resp.Conn, r access.Right, name []byte) bool {
	u, _ := c.User.(*access.User)
	return u.May(r, name)
}

// NeedsRight returns the reply to a command that needs a right for a name that its user lacks.
func NeedsRight(r access.Right, name []byte) string {
	return fmt.Sprintf("%s: the right %v is needed for %q", NoKey, r, Clip(name))
}

// Require reports whether the client's user has all rights for a name. If not it replies an error.
func Require(c *resp.Conn, name []byte, rights ...access.Right) bool {
	for _, r := range rights {
		if !May(c, r, name) {
			c.Error(NeedsRight(r, name))
			return false
		}
	}
	return true
}

// Everyone is resp.Options.Default for a server without users.
func Everyone() func(*resp.Conn) any {
	everyone := access.Everyone()
	return func(*resp.Conn) any { return everyone }
}

// MayCopy reports whether the client may know the seed of the filter's hash. If not it replies an
// error. A container or a delta contains the seed; digests let the client choose cells.
func MayCopy(c *resp.Conn, f *engine.Filter) bool {
	if f.Hasher().Secret() && !May(c, access.Admin, nil) {
		c.Error(NoSeeds)
		return false
	}
	return true
}

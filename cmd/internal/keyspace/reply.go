package keyspace

import (
	"errors"
	"strconv"
	"strings"

	"github.com/umbel-filters/umbel/cmd/internal/access"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/refusal"
	"github.com/umbel-filters/umbel/cmd/internal/resp"
)

// Errors in Redis' words.
const (
	syntaxError = "ERR syntax error"
	notWhole    = "ERR value is not an integer or out of range"
	noSuchKey   = "ERR no such key"
	busyKey     = "BUSYKEY Target key name already exists."
)

// kept answers OK to a change, or says why it failed.
func kept(c *resp.Conn, pos engine.Position, err error) {
	c.Commit(uint64(pos))
	if err != nil {
		c.Error(refusal.Text(err))
		return
	}
	c.Simple("OK")
}

// whole reads a whole number as Redis does: no sign but a minus, no zeros before it.
func whole(b []byte) (int64, bool) {
	s := string(b)
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && strconv.FormatInt(n, 10) == s
}

// is reports whether a word of a command is the option.
func is(word []byte, option string) bool {
	return len(word) == len(option) && strings.EqualFold(string(word), option)
}

// sees reports whether the client's user may know of a filter.
func sees(c *resp.Conn, f *engine.Filter) bool {
	u, ok := c.User.(*access.User)
	return !ok || u.May(access.Read, []byte(f.Name()))
}

// words answers with lines of help in the form of Redis: what can be asked, and below
// each what it gives.
func words(c *resp.Conn, command string, lines ...string) {
	c.Array(len(lines) + 3)
	c.Simple(command + " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:")
	for _, l := range lines {
		c.Simple(l)
	}
	c.Simple("HELP")
	c.Simple("    Prints this help.")
}

// misused is the error about a subcommand with too many words.
func misused(sub, command string) string {
	return "ERR unknown subcommand or wrong number of arguments for '" + sub + "'. Try " + command + " HELP."
}

// oneLine returns what a client sent as an error can repeat it.
func oneLine(b []byte) string {
	return strings.NewReplacer("\r", " ", "\n", " ").Replace(string(b[:min(len(b), 128)]))
}

// done answers to a change of one filter: 1, or 0 if it was gone meanwhile.
func done(c *resp.Conn, pos engine.Position, err error) {
	c.Commit(uint64(pos))
	switch {
	case errors.Is(err, engine.ErrNotFound):
		c.Int(0)
	case err != nil:
		c.Error(refusal.Text(err))
	default:
		c.Int(1)
	}
}

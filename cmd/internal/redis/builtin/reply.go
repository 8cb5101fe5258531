package builtin

import (
	"errors"

	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/node/access"
	"github.com/umbel-filters/umbel/cmd/internal/redis/command"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
)

// Errors with Redis' texts.
const (
	syntaxError = "ERR syntax error"
	notWhole    = "ERR value is not an integer or out of range"
	noSuchKey   = "ERR no such key"
	busyKey     = "BUSYKEY Target key name already exists."
)

// canRead reports whether the client's user may know of a filter.
func canRead(c *resp.Conn, f *engine.Filter) bool {
	return command.May(c, access.Read, []byte(f.Name()))
}

// unknownSubcommand returns the error for a subcommand with the wrong number of words.
func unknownSubcommand(sub, command string) string {
	return "ERR unknown subcommand or wrong number of arguments for '" + sub + "'. Try " + command + " HELP."
}

// replyOK replies 1 after a change of one filter, or 0 if the filter was deleted meanwhile.
func replyOK(c *resp.Conn, pos engine.Position, err error) {
	c.Commit(uint64(pos))
	switch {
	case errors.Is(err, engine.ErrNotFound):
		c.Int(0)
	case err != nil:
		command.Fail(c, err)
	default:
		c.Int(1)
	}
}

package keyspace

import (
	"errors"
	"strconv"
	"strings"

	"github.com/umbel-filters/umbel/cmd/internal/access"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/permit"
	"github.com/umbel-filters/umbel/cmd/internal/refusal"
	"github.com/umbel-filters/umbel/cmd/internal/resp"
)

// Errors with Redis' texts.
const (
	syntaxError = "ERR syntax error"
	notWhole    = "ERR value is not an integer or out of range"
	noSuchKey   = "ERR no such key"
	busyKey     = "BUSYKEY Target key name already exists."
)

// replyAfter replies OK after a change, or its error.
func replyAfter(c *resp.Conn, pos engine.Position, err error) {
	c.Commit(uint64(pos))
	if err != nil {
		c.Error(refusal.Text(err))
		return
	}
	c.Simple("OK")
}

// parseInt parses a whole number as Redis does: without plus sign and without leading zeros.
func parseInt(b []byte) (int64, bool) {
	s := string(b)
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && strconv.FormatInt(n, 10) == s
}

// isOption reports whether a word is the option.
func isOption(word []byte, option string) bool {
	return len(word) == len(option) && strings.EqualFold(string(word), option)
}

// canRead reports whether the client's user may know of a filter.
func canRead(c *resp.Conn, f *engine.Filter) bool {
	return permit.May(c, access.Read, []byte(f.Name()))
}

// replyHelp replies lines of help in Redis' format: syntax, and below each line its meaning.
func replyHelp(c *resp.Conn, command string, lines ...string) {
	c.Array(len(lines) + 3)
	c.Simple(command + " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:")
	for _, l := range lines {
		c.Simple(l)
	}
	c.Simple("HELP")
	c.Simple("    Prints this help.")
}

// unknownSubcommand returns the error for a subcommand with the wrong number of words.
func unknownSubcommand(sub, command string) string {
	return "ERR unknown subcommand or wrong number of arguments for '" + sub + "'. Try " + command + " HELP."
}

// singleLine returns input in a form that can be quoted in an error.
func singleLine(b []byte) string {
	return strings.NewReplacer("\r", " ", "\n", " ").Replace(string(b[:min(len(b), 128)]))
}

// replyOK replies 1 after a change of one filter, or 0 if the filter was deleted meanwhile.
func replyOK(c *resp.Conn, pos engine.Position, err error) {
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

// Package command contains what the commands of packages builtin, redisbloom and um share: the rows
// of their tables, replies, the parsing of arguments, rights and limits of memory.
package command

import (
	"strconv"
	"strings"

	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/node/access"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
)

// Row is a command as a line of a table.
type Row struct {
	Name       string // lower case; "client|kill" is a subcommand
	Syntax     string // words after the name, for UM.HELP
	Arity      int    // number of words including the name; -n: at least n
	Keys       Keys
	Makes      int          // index of the key that the command makes a filter with; 0 for none
	Right      access.Right // for all keys; 0 for none. Commands check further rights themselves
	NotAudited bool         // as in resp.Command
	Flags      string       // as in COMMAND INFO, separated by spaces
	Short      bool         // as in resp.Command
	Categories string       // without @
	Summary    string
	Since      string                            // as in resp.Command
	Long       Long                              // nil for a command that is short
	Run        func(c *resp.Conn, args [][]byte) // as in resp.Command
	RunAll     func(c *resp.Conn, calls [][][]byte)
}

// Long returns the bytes that a call of a long command works through, as in resp.Command, given the sum of the bytes of the filters
// that the call names.
type Long func(named uint64, args [][]byte) uint64

// Named is Long of a command that works through the filters that it names.
func Named(named uint64, _ [][]byte) uint64 { return named }

// Bounded is Long of a command whose work is bounded by the memory limit and the length of a transaction.
func Bounded(uint64, [][]byte) uint64 { return 0 }

// Keys are the indices of the words of a command that are keys: from First to Last, which counts from
// the end if it is negative. The zero value means that there are none.
type Keys struct{ First, Last int }

// Keys of commands.
var (
	OneKey  = Keys{1, 1}
	TwoKeys = Keys{1, 2}
	AllKeys = Keys{1, -1}
	SubKey  = Keys{2, 2} // after a subcommand
)

// Table returns the table of rows, for the filters of e.
func Table(e *engine.Engine, rows ...Row) resp.Table {
	t := resp.Table{}
	for _, r := range rows {
		r.guard(e)
		cmd := &resp.Command{
			Name: r.Name, Arity: r.Arity, Flags: strings.Fields(r.Flags), Short: r.Short, FirstKey: r.Keys.First, LastKey: r.Keys.Last,
			Right: r.Right, NotAudited: r.NotAudited, Summary: r.Summary, Since: r.Since, Run: r.Run, RunAll: r.RunAll,
		}
		if r.Keys != (Keys{}) {
			cmd.Step = 1
		}
		for _, c := range strings.Fields(r.Categories) {
			cmd.Categories = append(cmd.Categories, "@"+c)
		}
		if long := r.Long; long != nil {
			cmd.Long = func(args [][]byte) uint64 { return long(named(e, cmd, args), args) }
		}
		t[r.Name] = cmd
	}
	return t
}

// named returns the sum of the bytes of the filters that a call names.
func named(e *engine.Engine, cmd *resp.Command, args [][]byte) (n uint64) {
	cmd.Keys(args, func(name []byte) bool {
		if f := e.Get(name); f != nil {
			n += f.Bytes()
		}
		return true
	})
	return n
}

// Is reports whether a word of a call is an option, ignoring case.
func Is(word []byte, option string) bool {
	return len(word) == len(option) && strings.EqualFold(string(word), option)
}

// ParseInt parses a whole number as Redis does: without plus sign and without leading zeros.
func ParseInt(word []byte) (int64, bool) {
	if len(word) > len("-9223372036854775808") {
		return 0, false
	}
	s := string(word)
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && strconv.FormatInt(n, 10) == s
}

// Quote quotes the beginning of input for an error.
func Quote(word []byte) string { return strconv.Quote(string(word[:min(len(word), 64)])) }

// Clip returns the beginning of input on one line, for an error with Redis' text.
func Clip(word []byte) string { return oneLine.Replace(string(word[:min(len(word), 128)])) }

package resp

import (
	"bytes"
	"maps"
	"slices"
	"strings"
)

// Table is the commands by their names in lower case; "client|kill" is a subcommand of "client".
type Table map[string]*Command

// Command is one command.
type Command struct {
	Name                    string   // lower case
	Arity                   int      // words with the name; -n: at least n
	Flags                   []string // as COMMAND INFO shows them: "write", "denyoom", "module"; "no_multi" keeps it out of transactions
	Categories              []string // "@write", "@bloom"
	FirstKey, LastKey, Step int
	Right                   string // what a user needs on its keys: "read", "add", "remove", "admin", or "" for nothing
	Summary                 string // one line, for COMMAND DOCS
	Group                   string // for COMMAND DOCS; "" for "module"
	// Run answers one call with exactly one reply. args are its words with the name, which are
	// valid until it returns, and are not to be written to.
	Run func(c *Conn, args [][]byte)
	// RunAll answers calls that came in a row in one pipeline, of this command and with the same
	// first key, each with exactly one reply. nil: Run answers them one by one.
	RunAll func(c *Conn, calls [][][]byte)
}

// Keys calls each with the keys among the words of a call, until it returns false.
func (cmd *Command) Keys(args [][]byte, each func(key []byte) bool) {
	if cmd.FirstKey <= 0 {
		return
	}
	last := cmd.LastKey
	if last < 0 {
		last += len(args)
	}
	for i := cmd.FirstKey; i <= last && i < len(args); i += max(cmd.Step, 1) {
		if !each(args[i]) {
			return
		}
	}
}

func (cmd *Command) fits(words int) bool {
	return words == cmd.Arity || cmd.Arity < 0 && words >= -cmd.Arity
}

func (cmd *Command) has(flag string) bool { return slices.Contains(cmd.Flags, flag) }

// entry is a command as the dispatcher knows it.
type entry struct {
	*Command
	subs dispatch // nil: it has none

	isSub   bool
	alone   bool // what comes after it depends on it
	now     bool // runs in a transaction instead of being queued
	open    bool // runs before AUTH
	noMulti bool
	oneKey  bool // all its keys are the first
}

// dispatch finds commands by name; subcommands by what follows "|".
type dispatch map[string]*entry

// newDispatch puts tables together; later ones win.
func newDispatch(tables ...Table) dispatch {
	all := Table{}
	for _, t := range tables {
		maps.Copy(all, t)
	}
	d := dispatch{}
	for _, name := range slices.Sorted(maps.Keys(all)) { // a command before its subcommands
		parent, sub, isSub := strings.Cut(name, "|")
		e := &entry{Command: all[name], isSub: isSub, alone: slices.Contains(sessionNames, parent), now: slices.Contains(immediateNames, name),
			open: all[name].has("no_auth"), noMulti: all[name].has("no_multi")}
		e.oneKey = e.FirstKey > 0 && e.LastKey == e.FirstKey
		if !isSub {
			d[name] = e
			continue
		}
		p := d[parent]
		if p == nil {
			p = &entry{Command: &Command{Name: parent, Arity: -2, Categories: []string{"@slow"}, Group: all[name].Group}}
			d[parent] = p
		}
		if p.subs == nil {
			p.subs = dispatch{}
		}
		p.subs[sub] = e
	}
	return d
}

// longestName is the bytes of a command's name.
const longestName = 64

func (d dispatch) find(name []byte) *entry {
	var lower [longestName]byte
	if len(name) > len(lower) {
		return nil
	}
	for i, c := range name {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		lower[i] = c
	}
	return d[string(lower[:len(name)])]
}

// resolve returns the command of a call, or the error that is its reply.
func (d dispatch) resolve(args [][]byte) (*entry, string) {
	e := d.find(args[0])
	if e == nil {
		return nil, unknown(args)
	}
	if e.subs != nil && len(args) > 1 {
		sub := e.subs.find(args[1])
		if sub == nil {
			return nil, "ERR unknown subcommand '" + clip(args[1], 128) + "'. Try " + strings.ToUpper(e.Name) + " HELP."
		}
		e = sub
	}
	if !e.fits(len(args)) {
		return nil, "ERR wrong number of arguments for '" + e.Name + "' command"
	}
	return e, ""
}

// named returns a command by a name such as "client|kill".
func (d dispatch) named(name []byte) *entry {
	parent, sub, isSub := bytes.Cut(name, []byte("|"))
	e := d.find(parent)
	if e == nil || !isSub {
		return e
	}
	return e.subs.find(sub)
}

// unknown is Redis' text, with as many of the words as go into 128 bytes.
func unknown(args [][]byte) string {
	var words strings.Builder
	for _, a := range args[1:] {
		if words.Len() >= 128 {
			break
		}
		words.WriteString("'" + clip(a, 128-words.Len()) + "' ")
	}
	return "ERR unknown command '" + clip(args[0], 128) + "', with args beginning with: " + words.String()
}

// clip returns at most n bytes of b, up to a zero, where Redis' strings end.
func clip(b []byte, n int) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b[:min(n, len(b))])
}

// Commands calls each with every command of the server and its subcommands, in the order of
// their names.
func (s *Server) Commands(each func(*Command)) { s.commands.walk(each) }

func (d dispatch) walk(each func(*Command)) {
	for _, name := range d.sorted() {
		each(d[name].Command)
		d[name].subs.walk(each)
	}
}

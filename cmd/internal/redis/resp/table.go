package resp

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/umbel-filters/umbel/cmd/internal/node/access"
)

// Table maps names in lower case to commands; "client|kill" is a subcommand of "client".
type Table map[string]*Command

// Command is one command.
type Command struct {
	Name  string // lower case
	Arity int    // number of words including the name; -n: at least n
	// Flags are as in COMMAND INFO. "no_multi" forbids the command in transactions.
	Flags []string
	// Short is set if calls of few words take microseconds, apart from waits that are reported to Options: an event
	// loop may run them. Those with the flag "fast", and those with RunAll, are short as well.
	Short                   bool
	Categories              []string // "@write", "@bloom"
	FirstKey, LastKey, Step int
	Right                   access.Right // that a user needs for the keys, 0 for none
	NotAudited              bool         // needs access.Admin, but only reads: monitoring calls it often
	Summary                 string       // one line, for COMMAND DOCS
	Since                   string       // version that COMMAND DOCS reports; "": 1.0.0
	Group                   string       // for COMMAND DOCS; "" for "module"
	// Run makes exactly one reply to a call. args are its words including the name; they are valid
	// until Run returns and must not be modified. Run may be nil if RunAll is not.
	Run func(c *Conn, args [][]byte)
	// Long is not nil for a command that may take long or wait for the journal, and returns the bytes
	// that it works through. It runs without locks on its keys, so it may take effect between two
	// commands of another client's transaction. In a transaction the sum is limited: see
	// maxTransactionBytes.
	Long func(args [][]byte) uint64
	// RunAll makes exactly one reply to each of several consecutive calls with the same first key.
	// nil: Run is called for each.
	RunAll func(c *Conn, calls [][][]byte)
}

// Keys calls each with the keys of a call, until it returns false.
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

func (cmd *Command) acceptsWords(words int) bool {
	return words == cmd.Arity || cmd.Arity < 0 && words >= -cmd.Arity
}

func (cmd *Command) has(flag string) bool { return slices.Contains(cmd.Flags, flag) }

// entry is a command in the dispatch table.
type entry struct {
	*Command
	subs dispatch // subcommands, nil if none

	isSub          bool
	changesSession bool // affects the commands after it
	immediate      bool // runs within MULTI instead of being queued
	open           bool // runs before AUTH
	noMulti        bool
	write          bool // may change something
	oneKey         bool // the first key is the only one
	short          bool // takes microseconds and waits for nothing

	usage []usage // by lane
}

// runOne runs a single call.
func (e *entry) runOne(c *Conn, args [][]byte) {
	if e.Run != nil {
		e.Run(c, args)
	} else {
		e.RunAll(c, c.Single(args))
	}
	c.single[0] = nil
}

// dispatch maps names to commands; subcommands by the part after "|".
type dispatch map[string]*entry

// newDispatch combines tables; later ones take precedence. lanes is the number of counters of each command.
func newDispatch(lanes int, tables ...Table) dispatch {
	all := Table{}
	for _, t := range tables {
		maps.Copy(all, t)
	}
	d := dispatch{}
	for _, name := range slices.Sorted(maps.Keys(all)) { // commands before their subcommands
		parent, sub, isSub := strings.Cut(name, "|")
		e := &entry{Command: all[name], isSub: isSub, changesSession: slices.Contains(sessionNames, parent), immediate: slices.Contains(immediateNames, name),
			open: all[name].has("no_auth"), noMulti: all[name].has("no_multi"), write: all[name].has("write"), usage: make([]usage, lanes)}
		e.short = e.Short || e.has("fast") || e.RunAll != nil
		e.oneKey = e.FirstKey > 0 && e.LastKey == e.FirstKey
		if !isSub {
			d[name] = e
			continue
		}
		p := d[parent]
		if p == nil {
			p = &entry{Command: &Command{Name: parent, Arity: -2, Categories: []string{"@slow"}, Group: all[name].Group}, usage: make([]usage, lanes)}
			d[parent] = p
		}
		if p.subs == nil {
			p.subs = dispatch{}
		}
		p.subs[sub] = e
	}
	return d
}

// maxCommandName is the length of the longest command name in bytes.
const maxCommandName = 64

func (d dispatch) find(name []byte) *entry {
	var lower [maxCommandName]byte
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

// resolve returns the command of a call, or an error reply.
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
	if !e.acceptsWords(len(args)) {
		return nil, "ERR wrong number of arguments for '" + e.Name + "' command"
	}
	return e, ""
}

// named returns the command with a name such as "client|kill".
func (d dispatch) named(name []byte) *entry {
	parent, sub, isSub := bytes.Cut(name, []byte("|"))
	e := d.find(parent)
	if e == nil || !isSub {
		return e
	}
	return e.subs.find(sub)
}

// unknown returns Redis' error text, with as many words as fit into 128 bytes.
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

// clip returns at most n bytes of b, up to the first zero byte, like Redis' C strings.
func clip(b []byte, n int) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b[:min(n, len(b))])
}

// Commands calls each with every command and subcommand, sorted by name.
func (s *Server) Commands(each func(*Command)) {
	s.commands.walk(func(e *entry) { each(e.Command) })
}

func (d dispatch) walk(each func(*entry)) {
	for _, name := range d.sorted() {
		each(d[name])
		d[name].subs.walk(each)
	}
}

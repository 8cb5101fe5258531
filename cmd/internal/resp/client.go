package resp

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/access"
)

const (
	badName   = "ERR Client names cannot contain spaces, newlines or special characters."
	syntax    = "ERR syntax error"
	notNumber = "ERR value is not an integer or out of range"
)

func clientCommands() Table {
	flags := []string{"noscript", "loading", "stale"}
	admin := []string{"admin", "noscript", "loading", "stale"}
	slow := []string{"@slow", "@connection"}
	dangerous := []string{"@admin", "@slow", "@dangerous", "@connection"}
	return Table{
		"client":              {Arity: -2, Categories: []string{"@slow"}, Summary: "Connection commands.", Run: ok},
		"client|id":           {Arity: 2, Flags: flags, Categories: slow, Summary: "Returns the connection's ID.", Run: func(c *Conn, _ [][]byte) { c.Int(c.id) }},
		"client|getname":      {Arity: 2, Flags: flags, Categories: slow, Summary: "Returns the connection's name.", Run: getName},
		"client|setname":      {Arity: 3, Flags: flags, Categories: slow, Summary: "Names the connection.", Run: setName},
		"client|setinfo":      {Arity: 4, Flags: flags, Categories: slow, Summary: "Sets the name or version of the client library.", Run: setInfo},
		"client|info":         {Arity: 2, Flags: flags, Categories: slow, Summary: "Describes the connection.", Run: clientInfo},
		"client|list":         {Arity: -2, Flags: admin, Categories: dangerous, Right: access.Admin, Summary: "Describes all connections.", Run: clientList},
		"client|kill":         {Arity: -3, Flags: admin, Categories: dangerous, Right: access.Admin, Summary: "Closes connections.", Run: clientKill},
		"client|no-evict":     {Arity: 3, Flags: admin, Categories: dangerous, Summary: "No effect: clients are never evicted.", Run: onOff},
		"client|no-touch":     {Arity: 3, Flags: flags, Categories: slow, Summary: "No effect: no LRU is kept.", Run: onOff},
		"client|reply":        {Arity: 3, Flags: append(slices.Clip(flags), "no_multi"), Categories: slow, Summary: "Switches replies on or off.", Run: clientReply},
		"client|unblock":      {Arity: -3, Flags: admin, Categories: dangerous, Right: access.Admin, Summary: "No effect: no command blocks.", Run: unblock},
		"client|tracking":     {Arity: -3, Flags: flags, Categories: slow, Summary: "Not supported, except OFF.", Run: tracking},
		"client|caching":      {Arity: 3, Flags: flags, Categories: slow, Summary: "Not supported.", Run: caching},
		"client|getredir":     {Arity: 2, Flags: flags, Categories: slow, Summary: "Returns -1: tracking is not supported.", Run: func(c *Conn, _ [][]byte) { c.Int(-1) }},
		"client|trackinginfo": {Arity: 2, Flags: flags, Categories: slow, Summary: "Reports that tracking is off.", Run: trackingInfo},
		"client|help":         {Arity: 2, Flags: []string{"loading", "stale"}, Categories: slow, Summary: "Lists the subcommands.", Run: clientHelp},
	}
}

func ok(c *Conn, _ [][]byte) { c.Simple("OK") }

// maxClientName is the length of the longest client name in bytes.
const maxClientName = 1 << 10

// validName reports whether a name consists of visible ASCII bytes and is not too long.
func validName(name []byte) bool {
	return len(name) <= maxClientName && !slices.ContainsFunc(name, func(c byte) bool { return c < '!' || c > '~' })
}

func (c *Conn) rename(name []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.name = string(name)
}

func setName(c *Conn, args [][]byte) {
	if !validName(args[2]) {
		c.Error(badName)
		return
	}
	c.rename(args[2])
	c.Simple("OK")
}

func getName(c *Conn, _ [][]byte) {
	c.mu.Lock()
	name := c.name
	c.mu.Unlock()
	if name == "" {
		c.Null()
		return
	}
	c.BulkString(name)
}

func setInfo(c *Conn, args [][]byte) {
	option, value := strings.ToLower(string(args[2])), args[3]
	if option != "lib-name" && option != "lib-ver" {
		c.Error("ERR Unrecognized option '" + clip(args[2], 128) + "'")
		return
	}
	if !validName(value) {
		c.Error("ERR " + option + " cannot contain spaces, newlines or special characters.")
		return
	}
	c.mu.Lock()
	if option == "lib-name" {
		c.library = string(value)
	} else {
		c.libraryVersion = string(value)
	}
	c.mu.Unlock()
	c.Simple("OK")
}

// describe returns the connection's line of CLIENT LIST. It is safe for concurrent use.
func (c *Conn) describe(now time.Time) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	flags, queued, idle, cmd := "N", c.queued.Load(), time.Duration(0), "NULL"
	if queued >= 0 {
		flags = "x"
	}
	if c.doing.Load() == reading {
		idle = time.Duration(now.UnixNano() - c.since.Load())
	}
	if latest := c.lastCommand.Load(); latest != nil {
		cmd = latest.Name
	}
	held := c.memory.Load()
	return fmt.Sprintf("id=%d addr=%s laddr=%s fd=-1 name=%s age=%d idle=%d flags=%s db=0 sub=0 psub=0 ssub=0 multi=%d watch=%d qbuf=0 qbuf-free=%d argv-mem=0 multi-mem=0 rbs=0 rbp=0 obl=0 oll=0 omem=0 tot-mem=%d events=r cmd=%s user=%s redir=-1 resp=%d lib-name=%s lib-ver=%s\n",
		c.id, c.Addr(), c.Local(), c.name, int64(now.Sub(c.born).Seconds()), int64(max(idle, 0).Seconds()), flags, queued, c.watch.Load(), held, held, cmd, c.user, c.proto.Load(), c.library, c.libraryVersion)
}

func clientInfo(c *Conn, _ [][]byte) { c.Verbatim(c.describe(time.Now())) }

// clients returns the matching connections, oldest first.
func (s *Server) clients(matches func(*Conn) bool) []*Conn {
	var all []*Conn
	s.Clients(func(c *Conn) {
		if matches(c) {
			all = append(all, c)
		}
	})
	slices.SortFunc(all, func(a, b *Conn) int { return cmp.Compare(a.id, b.id) })
	return all
}

// clientType reports whether connections have the type, or returns an error reply.
func clientType(name []byte) (all bool, reply string) {
	switch strings.ToLower(string(name)) {
	case "normal":
		return true, ""
	case "master", "slave", "replica", "pubsub":
		return false, ""
	}
	return false, "ERR Unknown client type '" + clip(name, len(name)) + "'"
}

func clientList(c *Conn, args [][]byte) {
	matches := func(*Conn) bool { return true }
	switch options := args[2:]; {
	case len(options) == 0:
	case len(options) == 2 && bytes.EqualFold(options[0], []byte("TYPE")):
		all, reply := clientType(options[1])
		if reply != "" {
			c.Error(reply)
			return
		}
		matches = func(*Conn) bool { return all }
	case len(options) >= 2 && bytes.EqualFold(options[0], []byte("ID")):
		ids := map[int64]bool{}
		for _, o := range options[1:] {
			id, err := strconv.ParseInt(string(o), 10, 64)
			if err != nil {
				c.Error("ERR Invalid client ID")
				return
			}
			ids[id] = true
		}
		matches = func(o *Conn) bool { return ids[o.id] }
	default:
		c.Error(syntax)
		return
	}
	now := time.Now()
	var lines strings.Builder
	for _, o := range c.s.clients(matches) {
		lines.WriteString(o.describe(now))
	}
	c.Verbatim(lines.String())
}

func clientKill(c *Conn, args [][]byte) {
	if len(args) == 3 {
		if c.kill(c.s.clients(func(o *Conn) bool { return o.Addr().String() == string(args[2]) })) == 0 {
			c.Error("ERR No such client")
			return
		}
		c.Simple("OK")
		return
	}
	matches, reply := c.killFilter(args[2:])
	if reply != "" {
		c.Error(reply)
		return
	}
	c.Int(int64(c.kill(c.s.clients(matches))))
}

// kill disconnects clients and returns their number. A client that was killed before and
// whose connection has not ended yet does not count. c itself is disconnected after its
// reply.
func (c *Conn) kill(victims []*Conn) (killed int) {
	for _, v := range victims {
		if v == c {
			c.closing = true
			killed++
		} else if v.cut() {
			killed++
		}
	}
	return killed
}

// killFilter parses the options of CLIENT KILL.
func (c *Conn) killFilter(options [][]byte) (matches func(*Conn) bool, reply string) {
	self := false
	var all []func(*Conn) bool
	for ; len(options) > 0; options = options[2:] {
		if len(options) < 2 {
			return nil, syntax
		}
		value := string(options[1])
		switch strings.ToLower(string(options[0])) {
		case "id":
			id, err := strconv.ParseInt(value, 10, 64)
			if err != nil || id <= 0 {
				return nil, "ERR client-id should be greater than 0"
			}
			all = append(all, func(o *Conn) bool { return o.id == id })
		case "addr":
			all = append(all, func(o *Conn) bool { return o.Addr().String() == value })
		case "laddr":
			all = append(all, func(o *Conn) bool { return o.Local().String() == value })
		case "user":
			all = append(all, func(o *Conn) bool { o.mu.Lock(); defer o.mu.Unlock(); return o.user == value })
		case "maxage":
			age, err := strconv.ParseInt(value, 10, 32)
			if err != nil || age < 0 {
				return nil, notNumber
			}
			before := time.Now().Add(-time.Duration(age) * time.Second)
			all = append(all, func(o *Conn) bool { return o.born.Before(before) })
		case "type":
			these, reply := clientType(options[1])
			if reply != "" {
				return nil, reply
			}
			all = append(all, func(*Conn) bool { return these })
		case "skipme":
			switch strings.ToLower(value) {
			case "yes":
				self = false
			case "no":
				self = true
			default:
				return nil, syntax
			}
		default:
			return nil, syntax
		}
	}
	return func(o *Conn) bool {
		return (self || o != c) && !slices.ContainsFunc(all, func(matches func(*Conn) bool) bool { return !matches(o) })
	}, ""
}

func onOff(c *Conn, args [][]byte) {
	switch strings.ToLower(string(args[2])) {
	case "on", "off":
		c.Simple("OK")
	default:
		c.Error(syntax)
	}
}

func clientReply(c *Conn, args [][]byte) {
	switch strings.ToLower(string(args[2])) {
	case "on":
		c.mute = 0
	case "off":
		c.mute = muted
	case "skip":
		if c.mute != muted {
			c.mute = 2 // this reply and the next
		}
	default:
		c.Error(syntax)
		return
	}
	c.Simple("OK")
}

func unblock(c *Conn, args [][]byte) {
	if _, err := strconv.ParseInt(string(args[2]), 10, 64); err != nil {
		c.Error(notNumber)
		return
	}
	if len(args) > 3 && !bytes.EqualFold(args[3], []byte("TIMEOUT")) && !bytes.EqualFold(args[3], []byte("ERROR")) {
		c.Error("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR")
		return
	}
	c.Int(0)
}

func tracking(c *Conn, args [][]byte) {
	switch strings.ToLower(string(args[2])) {
	case "off":
		c.Simple("OK")
	case "on":
		c.Error("ERR CLIENT TRACKING is not supported; disable client-side caching")
	default:
		c.Error(syntax)
	}
}

func caching(c *Conn, _ [][]byte) {
	c.Error("ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode enabled")
}

func trackingInfo(c *Conn, _ [][]byte) {
	c.Map(3)
	c.BulkString("flags")
	c.Set(1)
	c.BulkString("off")
	c.BulkString("redirect")
	c.Int(-1)
	c.BulkString("prefixes")
	c.Array(0)
}

func clientHelp(c *Conn, _ [][]byte) {
	c.Help("CLIENT",
		"ID", "    Return the ID of the current connection.",
		"INFO", "    Return information about the current connection.",
		"LIST [TYPE (NORMAL|MASTER|REPLICA|PUBSUB) | ID <id> [<id> ...]]", "    Return information about connections.",
		"KILL <ip:port>", "    Kill the connection made from <ip:port>.",
		"KILL <option> <value> [<option> <value> [...]]", "    Kill connections. Options are ID, ADDR, LADDR, USER, TYPE, MAXAGE and SKIPME (YES|NO).",
		"GETNAME", "    Return the name of the current connection.",
		"SETNAME <name>", "    Assign the name <name> to the current connection.",
		"SETINFO (LIB-NAME|LIB-VER) <value>", "    Set the library name or version of the current connection.",
		"REPLY (ON|OFF|SKIP)", "    Control the replies sent to the current connection.",
		"TRACKING (ON|OFF)", "    Client side caching is not supported: ON is an error.",
		"TRACKINGINFO", "    Report tracking status for the current connection.",
		"GETREDIR", "    Return -1.",
		"NO-EVICT (ON|OFF)", "    Accepted, without effect.",
		"NO-TOUCH (ON|OFF)", "    Accepted, without effect.",
		"UNBLOCK <clientid> [TIMEOUT|ERROR]", "    Return 0: no command blocks.",
	)
}

// Help replies lines of help in Redis' format: syntax, and after each line its meaning.
func (c *Conn) Help(command string, lines ...string) {
	c.Array(len(lines) + 3)
	c.Simple(command + " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:")
	for _, l := range lines {
		c.Simple(l)
	}
	c.Simple("HELP")
	c.Simple("    Prints this help.")
}

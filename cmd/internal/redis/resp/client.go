package resp

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/node/access"
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
		"client":         {Arity: -2, Categories: []string{"@slow"}, Summary: "Connection commands.", Run: ok},
		"client|id":      {Arity: 2, Flags: flags, Categories: slow, Summary: "Returns the connection's ID.", Run: func(c *Conn, _ [][]byte) { c.Int(c.id) }},
		"client|getname": {Arity: 2, Flags: flags, Categories: slow, Summary: "Returns the connection's name.", Run: getName},
		"client|setname": {Arity: 3, Flags: flags, Categories: slow, Summary: "Names the connection.", Run: setName},
		"client|setinfo": {Arity: 4, Flags: flags, Categories: slow, Summary: "Sets the name or version of the client library.", Run: setInfo},
		"client|info":    {Arity: 2, Flags: flags, Categories: slow, Summary: "Describes the connection.", Run: clientInfo},
		"client|list": {Arity: -2, Flags: admin, Categories: dangerous, Right: access.Admin, NotAudited: true,
			Summary: "Describes all connections.", Run: clientList},
		"client|kill":     {Arity: -3, Flags: admin, Categories: dangerous, Right: access.Admin, Summary: "Closes connections.", Run: clientKill},
		"client|no-evict": {Arity: 3, Flags: admin, Categories: dangerous, Summary: "No effect: clients are never evicted.", Run: onOff},
		"client|no-touch": {Arity: 3, Flags: flags, Categories: slow, Summary: "No effect: no LRU is kept.", Run: onOff},
		"client|reply":    {Arity: 3, Flags: append(slices.Clip(flags), "no_multi"), Categories: slow, Summary: "Switches replies on or off.", Run: clientReply},
		"client|unblock": {Arity: -3, Flags: admin, Categories: dangerous, Right: access.Admin, NotAudited: true,
			Summary: "No effect: no command blocks.", Run: unblock},
		"client|tracking": {Arity: -3, Flags: flags, Categories: slow, Summary: "Not supported, except OFF.", Run: tracking},
		"client|caching":  {Arity: 3, Flags: flags, Categories: slow, Summary: "Not supported.", Run: caching},
		"client|getredir": {Arity: 2, Flags: flags, Categories: slow, Summary: "Returns -1: tracking is not supported.",
			Run: func(c *Conn, _ [][]byte) { c.Int(-1) }},
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
	return fmt.Sprintf("id=%d addr=%s laddr=%s fd=-1 name=%s age=%d idle=%d flags=%s db=0 sub=0 psub=0 ssub=0 multi=%d "+
		"watch=%d qbuf=0 qbuf-free=%d argv-mem=0 multi-mem=0 rbs=0 rbp=0 obl=0 oll=0 omem=0 tot-mem=%d events=r cmd=%s user=%s "+
		"redir=-1 resp=%d lib-name=%s lib-ver=%s\n",
		c.id, c.Addr(), c.local(), c.name, int64(now.Sub(c.born).Seconds()), int64(max(idle, 0).Seconds()), flags, queued,
		c.watch.Load(), held, held, cmd, c.user, c.proto.Load(), c.library, c.libraryVersion)
}

func clientInfo(c *Conn, _ [][]byte) { c.Verbatim(c.describe(time.Now())) }

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

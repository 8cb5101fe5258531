package keyspace

import (
	"strconv"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/refusal"
	"github.com/umbel-filters/umbel/cmd/internal/resp"
)

// server are the commands that concern the node as a whole.
func (k *keyspace) server() []row {
	const admins = "admin slow dangerous"
	return []row{
		{"flushall", -1, noKeys, "admin", "write", "keyspace write slow dangerous", "Forgets all filters.", k.flush},
		{"flushdb", -1, noKeys, "admin", "write", "keyspace write slow dangerous", "Forgets all filters.", k.flush},
		{"save", 1, noKeys, "admin", "admin noscript no_async_loading no_multi", admins, "Makes a snapshot and waits for it.", resp.Aside(k.save)},
		{"bgsave", -1, noKeys, "admin", "admin noscript no_async_loading", admins, "Begins a snapshot.", k.backgroundSave},
		{"bgrewriteaof", 1, noKeys, "admin", "admin noscript no_async_loading", admins, "Begins a snapshot, behind which the log is cut.", k.rewrite},
		{"lastsave", 1, noKeys, "", "loading stale fast", "admin fast dangerous", "Tells when the last snapshot was made.", k.lastSave},
		{"shutdown", -1, noKeys, "admin", "admin noscript loading stale no_multi allow_busy", admins, "Ends the node; nothing is lost.", k.shutdown},
		{"wait", 3, noKeys, "", "noscript", "slow connection", "Tells how many replicas have the client's changes: none, for there are none.", wait},
		{"waitaof", 4, noKeys, "", "noscript", "slow connection", "Waits until all changes are on the disk.", resp.Aside(k.waitDisk)},
		{"time", 1, noKeys, "", "loading stale fast", "fast", "Tells the time.", clock},
		{"info", -1, noKeys, "", "loading stale", "slow dangerous", "Tells how the node does, in sections.", resp.Aside(k.info)},
		{"role", 1, noKeys, "", "noscript loading stale fast", "admin fast dangerous", "Tells that the node is no replica.", role},
	}
}

func (k *keyspace) flush(c *resp.Conn, args [][]byte) {
	if len(args) > 2 || len(args) == 2 && !is(args[1], "sync") && !is(args[1], "async") {
		c.Error(syntaxError)
		return
	}
	pos, err := k.engine.Flush()
	kept(c, pos, err)
}

func (k *keyspace) save(c *resp.Conn, _ [][]byte) { kept(c, 0, k.node.Save(false)) }

func (k *keyspace) backgroundSave(c *resp.Conn, args [][]byte) {
	if len(args) > 2 || len(args) == 2 && !is(args[1], "schedule") {
		c.Error(syntaxError)
		return
	}
	k.begin(c, "Background saving started")
}

func (k *keyspace) rewrite(c *resp.Conn, _ [][]byte) {
	k.begin(c, "Background append only file rewriting started")
}

// begin begins a snapshot.
func (k *keyspace) begin(c *resp.Conn, begun string) {
	if err := k.node.Save(true); err != nil {
		c.Error(refusal.Text(err))
		return
	}
	c.Simple(begun)
}

func (k *keyspace) lastSave(c *resp.Conn, _ [][]byte) { c.Int(max(k.node.LastSave().Unix(), 0)) }

// shutdown answers nothing but the end of the connection, as Redis does. There is nothing
// to save or not to save: what was acknowledged is in the log.
func (k *keyspace) shutdown(c *resp.Conn, args [][]byte) {
	var save, noSave, abort bool
	for _, w := range args[1:] {
		switch {
		case is(w, "save"):
			save = true
		case is(w, "nosave"):
			noSave = true
		case is(w, "abort"):
			abort = true
		case is(w, "now"), is(w, "force"):
		default:
			c.Error(syntaxError)
			return
		}
	}
	switch {
	case save && noSave, abort && len(args) > 2:
		c.Error(syntaxError)
	case abort:
		c.Error("ERR No shutdown in progress.")
	default:
		c.Close()
		k.node.Shutdown()
	}
}

func wait(c *resp.Conn, args [][]byte) {
	if _, ok := whole(args[1]); !ok {
		c.Error(notWhole)
		return
	}
	if refused := timeout(args[2]); refused != "" {
		c.Error(refused)
		return
	}
	c.Int(0)
}

// waitDisk answers 1 when the disk has all, and 0 where that failed, and for replicas 0.
func (k *keyspace) waitDisk(c *resp.Conn, args [][]byte) {
	local, ok := whole(args[1])
	if !ok || local < 0 || local > 1 {
		c.Error("ERR value is out of range, value must between 0 and 1")
		return
	}
	if replicas, ok := whole(args[2]); !ok || replicas < 0 {
		c.Error("ERR value is out of range, must be positive")
		return
	}
	if refused := timeout(args[3]); refused != "" {
		c.Error(refused)
		return
	}
	if err := k.node.Sync(); err != nil {
		local = 0
	} else {
		local = 1
	}
	c.Array(2)
	c.Int(local)
	c.Int(0)
}

// timeout checks a number of milliseconds; the error is a reply.
func timeout(b []byte) (refused string) {
	n, ok := whole(b)
	switch {
	case !ok:
		return "ERR timeout is not an integer or out of range"
	case n < 0:
		return "ERR timeout is negative"
	}
	return ""
}

func clock(c *resp.Conn, _ [][]byte) {
	now := time.Now()
	c.Array(2)
	c.BulkString(strconv.FormatInt(now.Unix(), 10))
	c.BulkString(strconv.Itoa(now.Nanosecond() / 1000))
}

func role(c *resp.Conn, _ [][]byte) {
	c.Array(3)
	c.BulkString("master")
	c.Int(0)
	c.Array(0)
}

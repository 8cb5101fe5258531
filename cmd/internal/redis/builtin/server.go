package builtin

import (
	"strconv"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/node/access"
	"github.com/umbel-filters/umbel/cmd/internal/redis/command"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
)

// server are the commands that concern the server.
func (k *builtin) server() []command.Row {
	const admins = "admin slow dangerous"
	return []command.Row{
		{Name: "flushall", Arity: -1, Right: access.Admin, Flags: "write", Categories: "keyspace write slow dangerous",
			Summary: "Deletes all filters.", Run: k.flush},
		{Name: "flushdb", Arity: -1, Right: access.Admin, Flags: "write", Categories: "keyspace write slow dangerous",
			Summary: "Deletes all filters.", Run: k.flush},
		{Name: "save", Arity: 1, Right: access.Admin, Flags: "admin noscript no_async_loading no_multi", Categories: admins,
			Summary: "Takes a snapshot and waits for it.", Run: k.save},
		{Name: "bgsave", Arity: -1, Right: access.Admin, Flags: "admin noscript no_async_loading", Categories: admins,
			Summary: "Starts a snapshot.", Run: k.backgroundSave},
		{Name: "bgrewriteaof", Arity: 1, Right: access.Admin, Flags: "admin noscript no_async_loading", Categories: admins,
			Summary: "Starts a snapshot, after which the log is truncated.", Run: k.rewrite},
		{Name: "lastsave", Arity: 1, Flags: "loading stale fast", Categories: "admin fast dangerous",
			Summary: "Returns the time of the last snapshot.", Run: k.lastSave},
		{Name: "shutdown", Arity: -1, Right: access.Admin,
			Flags: "admin noscript loading stale no_multi allow_busy", Categories: admins,
			Summary: "Shuts the server down without loss.", Run: k.shutdown},
		{Name: "wait", Arity: 3, Flags: "noscript", Categories: "slow connection",
			Summary: "Returns 0: replication is not supported.", Run: wait},
		{Name: "waitaof", Arity: 4, Flags: "noscript", Categories: "slow connection",
			Summary: "Waits until all changes are on the disk.", Run: k.waitDisk},
		{Name: "time", Arity: 1, Flags: "loading stale fast", Categories: "fast",
			Summary: "Returns the time.", Run: clock},
		{Name: "info", Arity: -1, Flags: "loading stale", Categories: "slow dangerous",
			Summary: "Returns information about the server.", Run: k.info},
		{Name: "role", Arity: 1, Flags: "noscript loading stale fast", Categories: "admin fast dangerous",
			Summary: "Returns whether the node leads or follows.", Run: k.role},
	}
}

func (k *builtin) flush(c *resp.Conn, args [][]byte) {
	if len(args) > 2 || len(args) == 2 && !command.Is(args[1], "sync") && !command.Is(args[1], "async") {
		c.Error(syntaxError)
		return
	}
	pos, err := k.engine.Flush()
	command.OK(c, pos, err)
}

func (k *builtin) save(c *resp.Conn, _ [][]byte) { command.OK(c, 0, k.node.Save(false)) }

func (k *builtin) backgroundSave(c *resp.Conn, args [][]byte) {
	if len(args) > 2 || len(args) == 2 && !command.Is(args[1], "schedule") {
		c.Error(syntaxError)
		return
	}
	k.begin(c, "Background saving started")
}

func (k *builtin) rewrite(c *resp.Conn, _ [][]byte) {
	k.begin(c, "Background append only file rewriting started")
}

// begin begins a snapshot.
func (k *builtin) begin(c *resp.Conn, begun string) {
	if err := k.node.Save(true); err != nil {
		command.Fail(c, err)
		return
	}
	c.Simple(begun)
}

func (k *builtin) lastSave(c *resp.Conn, _ [][]byte) { c.Int(max(k.node.LastSave().Unix(), 0)) }

// shutdown closes the connection without a reply, as Redis does. NOSAVE and SAVE have no effect:
// acknowledged changes are in the log.
func (k *builtin) shutdown(c *resp.Conn, args [][]byte) {
	var save, noSave, abort bool
	for _, w := range args[1:] {
		switch {
		case command.Is(w, "save"):
			save = true
		case command.Is(w, "nosave"):
			noSave = true
		case command.Is(w, "abort"):
			abort = true
		case command.Is(w, "now"), command.Is(w, "force"):
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
	if _, ok := command.ParseInt(args[1]); !ok {
		c.Error(notWhole)
		return
	}
	if refused := timeout(args[2]); refused != "" {
		c.Error(refused)
		return
	}
	c.Int(0)
}

// waitDisk replies 1 when all changes are durable, 0 on failure and in a transaction; and 0 for
// replicas.
func (k *builtin) waitDisk(c *resp.Conn, args [][]byte) {
	local, ok := command.ParseInt(args[1])
	if !ok || local < 0 || local > 1 {
		c.Error("ERR value is out of range, value must between 0 and 1")
		return
	}
	if replicas, ok := command.ParseInt(args[2]); !ok || replicas < 0 {
		c.Error("ERR value is out of range, must be positive")
		return
	}
	if refused := timeout(args[3]); refused != "" {
		c.Error(refused)
		return
	}
	if c.InTransaction() { // it must not wait
		local = 0
	} else if err := k.node.Sync(); err != nil {
		local = 0
	} else {
		local = 1
	}
	c.Array(2)
	c.Int(local)
	c.Int(0)
}

// timeout checks a number of milliseconds; it returns an error reply or "".
func timeout(b []byte) (refused string) {
	n, ok := command.ParseInt(b)
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

func (k *builtin) role(c *resp.Conn, _ [][]byte) {
	f := map[string]string{}
	for _, field := range k.node.Replication().Fields {
		f[field[0]] = field[1]
	}
	number := func(name string) int64 {
		n, _ := strconv.ParseInt(f[name], 10, 64)
		return n
	}
	if f["role"] != "slave" {
		c.Array(3)
		c.BulkString("master")
		c.Int(number("master_repl_offset"))
		c.Array(0)
		return
	}
	link := "connected"
	if f["master_link_status"] != "up" {
		link = "connect"
	}
	c.Array(5)
	c.BulkString("slave")
	c.BulkString(f["master_host"])
	c.Int(number("master_port"))
	c.BulkString(link)
	c.Int(number("slave_repl_offset"))
}

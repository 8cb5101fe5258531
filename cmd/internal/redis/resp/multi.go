package resp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/umbel-filters/umbel/cmd/internal/node/access"
	"github.com/umbel-filters/umbel/cmd/internal/service/budget"
)

// transaction contains the calls since MULTI and the keys of WATCH.
type transaction struct {
	open    bool
	failed  bool // a command wasn't queued
	calls   []queued
	bytes   int
	watched []watched
}

type queued struct {
	cmd  *entry
	args [][]byte
}

type watched struct {
	key     string
	version uint64
}

// immediateNames are the commands that are not queued.
var immediateNames = []string{"multi", "exec", "discard", "watch", "quit", "reset"}

func transactionCommands() Table {
	return Table{
		"multi": {Arity: 1, Flags: []string{"noscript", "loading", "stale", "fast", "allow_busy"},
			Categories: []string{"@fast", "@transaction"}, Summary: "Starts a transaction.", Run: multi},
		"exec": {Arity: 1, Flags: []string{"noscript", "loading", "stale", "skip_slowlog"},
			Categories: []string{"@slow", "@transaction"}, Summary: "Runs the commands of a transaction, excluding those of other clients on its keys.", Run: execute},
		"discard": {Arity: 1, Flags: []string{"noscript", "loading", "stale", "fast", "allow_busy"},
			Categories: []string{"@fast", "@transaction"}, Summary: "Ends a transaction without running its commands.", Run: discard},
		"watch": {Arity: -2, Flags: []string{"noscript", "loading", "stale", "fast", "allow_busy"},
			Categories: []string{"@fast", "@transaction"}, FirstKey: 1, LastKey: -1, Step: 1, Right: access.Read,
			Summary: "Cancels the next EXEC if a key changes.", Run: watch},
		"unwatch": {Arity: 1, Flags: []string{"noscript", "loading", "stale", "fast", "allow_busy"},
			Categories: []string{"@fast", "@transaction"}, Summary: "Cancels all WATCH.", Run: unwatch},
	}
}

func multi(c *Conn, _ [][]byte) {
	if c.tx.open {
		c.Error("ERR MULTI calls can not be nested")
		return
	}
	c.tx.open = true
	c.tx.failed = false
	c.queued.Store(0)
	c.Simple("OK")
}

// queue stores a call for EXEC.
func (c *Conn) queue(e *entry, args [][]byte) {
	const wordBytes, callBytes = 24, 64
	size := callBytes
	for _, a := range args {
		size += len(a) + wordBytes
	}
	if c.tx.bytes+size > c.in.maxQuery {
		c.tx.failed = true
		c.Error("ERR the transaction exceeds the query limit")
		return
	}
	c.tx.bytes += size
	if !c.updateMemory() {
		c.tx.bytes -= size
		c.tx.failed = true
		c.Error("ERR " + budget.ErrFull.Error())
		return
	}
	kept := make([][]byte, len(args))
	for i, a := range args {
		kept[i] = slices.Clone(a)
	}
	c.tx.calls = append(c.tx.calls, queued{e, kept})
	c.queued.Add(1)
	c.Simple("QUEUED")
}

func execute(c *Conn, _ [][]byte) {
	if !c.tx.open {
		c.Error("ERR EXEC without MULTI")
		return
	}
	tx := c.endTransaction()
	if tx.failed {
		c.Error("EXECABORT Transaction discarded because of previous errors.")
		return
	}
	if reply := c.checkSlots(&tx); reply != "" {
		c.Error(reply)
		return
	}
	set := c.lockTransaction(&tx)
	c.inExec = true
	defer func() {
		c.inExec = false
		c.s.keys.unlock(set, true)
	}()
	for _, w := range tx.watched {
		if c.s.o.Version([]byte(w.key)) != w.version {
			c.nullArray()
			return
		}
	}
	c.Array(len(tx.calls))
	c.left = maxTransactionBytes
	for _, q := range tx.calls {
		reply := c.checkAllowed(q.cmd, q.args)
		if reply == "" {
			reply = c.takeBytes(q)
		}
		if reply != "" {
			c.Error(reply)
			continue
		}
		c.args = q.args
		mark := len(c.out)
		q.cmd.runOne(c, q.args)
		c.recordFailure(mark)
		c.observe(q.cmd, 1)
		if c.overflows() {
			return
		}
	}
}

// maxTransactionBytes is the sum of the bytes that the long commands of a transaction may work
// through while other clients wait for its keys.
const maxTransactionBytes = 1 << 20

// takeBytes subtracts the bytes of a long command from what is left, or returns an error reply.
func (c *Conn) takeBytes(q queued) string {
	if q.cmd.Long == nil {
		return ""
	}
	n := q.cmd.Long(q.args)
	if n > c.left {
		return fmt.Sprintf("ERR %s works through %d bytes, and the long commands of a transaction may work through %d in all; run it outside of MULTI",
			strings.ToUpper(q.cmd.Name), n, maxTransactionBytes)
	}
	c.SpendBytes(n)
	return ""
}

func discard(c *Conn, _ [][]byte) {
	if !c.tx.open {
		c.Error("ERR DISCARD without MULTI")
		return
	}
	c.endTransaction()
	c.Simple("OK")
}

// endTransaction ends and returns the transaction, and clears WATCH.
func (c *Conn) endTransaction() transaction {
	tx := c.tx
	c.tx = transaction{}
	c.queued.Store(-1)
	c.watch.Store(0)
	return tx
}

func watch(c *Conn, args [][]byte) {
	if c.tx.open {
		c.Error("ERR WATCH inside MULTI is not allowed")
		return
	}
	if c.s.o.Version == nil {
		c.Error("ERR WATCH is not supported")
		return
	}
	for _, key := range args[1:] {
		if slices.ContainsFunc(c.tx.watched, func(w watched) bool { return w.key == string(key) }) {
			continue
		}
		if len(c.tx.watched) == maxWatched || len(key) > maxWatchedKey {
			c.Error("ERR too many or too long keys are watched")
			return
		}
		c.tx.watched = append(c.tx.watched, watched{string(key), c.s.o.Version(key)})
	}
	c.watch.Store(int64(len(c.tx.watched)))
	c.Simple("OK")
}

// maxWatched is the number of keys that one client may watch, maxWatchedKey the length of each in
// bytes.
const maxWatched, maxWatchedKey = 1024, 64 << 10

func unwatch(c *Conn, _ [][]byte) {
	c.tx.watched = nil
	c.watch.Store(0)
	c.Simple("OK")
}

package resp

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"github.com/umbel-filters/umbel/internal/event"
)

// maxCalls is the maximum number of calls per RunAll.
const maxCalls = 1024

// maxShortWords is the number of words up to which a call is short: a loop may run it. So is the size of the
// buffer of input.
const maxShortWords = 1024

// muted is the value of Conn.mute after CLIENT REPLY OFF.
const muted = -1

// run is a sequence of calls of one command.
type run struct {
	cmd   *entry
	calls [][][]byte
}

// answer runs the complete commands, at most as many as the client may run per second. It reports
// whether there may be more.
func (c *Conn) answer() (more bool) {
	c.clock = time.Now()
	c.state(running, c.clock)
	for !c.closing && !c.broken {
		if c.limiter != nil && c.ran+len(c.pending.calls) >= c.limiter.Burst() {
			more = true
			break
		}
		c.in.unauthenticated = c.unauthenticated()
		args, err := c.in.next()
		if err != nil {
			if c.runPending(); !c.closing {
				c.fail(err)
			}
			break
		}
		if args == nil {
			break
		}
		c.enqueue(args)
	}
	c.runPending()
	if c.in.release() {
		c.args, c.pending = nil, run{}
	}
	return more
}

// unauthenticated reports whether the client must authenticate first.
func (c *Conn) unauthenticated() bool { return c.User == nil && c.s.o.Auth != nil }

// enqueue adds a call to the pending ones, after running them if it cannot run with them.
func (c *Conn) enqueue(args [][]byte) {
	if len(c.pending.calls) > 0 {
		if c.canBatch(args) {
			c.pending.calls = append(c.pending.calls, args)
			return
		}
		c.runPending()
		if c.closing || c.broken {
			return
		}
	}
	e, reply := c.s.commands.resolve(args)
	if c.s.o.Loading && (reply != "" || e.FirstKey > 0 || !slices.Contains(e.Flags, "loading")) {
		reply = "LOADING Redis is loading the dataset in memory"
	}
	if reply == "" {
		reply = c.checkAllowed(e, args)
	}
	if reply == "" && c.s.o.Slots != nil {
		reply = c.checkSlot(e, args)
	}
	if reply == "" && e.write {
		reply = c.s.o.ReadOnly
	}
	switch {
	case reply != "":
		c.rejectCall(args, reply)
	case c.tx.open && !e.immediate:
		c.reply(func() { c.queue(e, args) })
	default:
		c.pending.cmd = e
		c.pending.calls = append(c.pending.calls, args)
		if e.changesSession || c.mute != 0 {
			c.runPending()
		}
	}
}

// canBatch reports whether a call can run with the pending ones and needs no check of its own.
func (c *Conn) canBatch(args [][]byte) bool {
	r := &c.pending
	first := r.calls[0]
	if !bytes.Equal(args[0], first[0]) || r.cmd.isSub || r.cmd.subs != nil || !r.cmd.acceptsWords(len(args)) || len(r.calls) == maxCalls {
		return false
	}
	k := r.cmd.FirstKey
	if k <= 0 {
		return c.s.o.Allow == nil || len(args) == 1
	}
	checked := c.s.o.Allow != nil || c.s.o.Slots != nil // by their keys
	if r.cmd.RunAll == nil && !checked {
		return true
	}
	return k < len(args) && k < len(first) && bytes.Equal(args[k], first[k]) && (r.cmd.oneKey || !checked)
}

// checkAllowed returns an error reply if the client may not run the command now.
func (c *Conn) checkAllowed(e *entry, args [][]byte) string {
	if e.open {
		return ""
	}
	if c.unauthenticated() {
		return "NOAUTH Authentication required."
	}
	if c.tx.open && e.noMulti {
		return "ERR Command not allowed inside a transaction"
	}
	if c.s.o.Allow != nil {
		if err := c.s.o.Allow(c, e.Command, args); err != nil {
			return err.Error()
		}
	}
	return ""
}

// rejectCall replies an error to a call that is not run. It replies nothing to HTTP requests,
// which a web page may have sent.
func (c *Conn) rejectCall(args [][]byte, reply string) {
	if bytes.EqualFold(args[0], []byte("post")) || bytes.EqualFold(args[0], []byte("host:")) {
		c.logger().Warn("client disconnected", event.ClientDisconnected, "reason", "HTTP request on the RESP port")
		c.closing = true
		return
	}
	if bytes.EqualFold(args[0], []byte("exec")) {
		c.endTransaction()
		reply = "EXECABORT Transaction discarded because of: " + strings.TrimPrefix(reply, "ERR ")
	}
	c.tx.failed = true
	c.reply(func() { c.Error(reply) })
}

// reply makes one reply.
func (c *Conn) reply(reply func()) {
	mark := len(c.out)
	reply()
	c.replied(1, mark)
}

// runPending runs the pending calls.
func (c *Conn) runPending() {
	n := len(c.pending.calls)
	if n == 0 {
		return
	}
	e := c.pending.cmd
	c.args = c.pending.calls[0]
	if !e.short || len(c.args) > maxShortWords || cap(c.in.buf) > maxKeptBuffer {
		c.mayWait()
	}
	if c.lastCommand.Load() != e.Command {
		c.lastCommand.Store(e.Command)
	}
	if e.RunAll != nil && n > 1 {
		mark := len(c.out)
		c.lockKeys(e, c.pending.calls...)
		e.RunAll(c, c.pending.calls)
		c.unlockKeys()
		c.failure = ""
		c.replied(n, mark)
	} else {
		for i, args := range c.pending.calls {
			mark := len(c.out)
			c.lockKeys(e, args)
			e.runOne(c, args)
			c.unlockKeys()
			c.recordFailure(mark)
			c.replied(1, mark)
			if c.closing || c.broken {
				n = i + 1
				break
			}
		}
	}
	c.observe(e, n)
	c.pending.calls = c.pending.calls[:0]
}

// recordFailure records the reply that begins at mark if it is an error.
func (c *Conn) recordFailure(mark int) {
	c.failure = ""
	if mark < len(c.out) && c.out[mark] == '-' {
		text, _, _ := bytes.Cut(c.out[mark+1:], []byte("\r\n"))
		c.failure = string(text)
	}
}

// observe counts n consecutive calls.
func (c *Conn) observe(e *entry, n int) {
	now := time.Now()
	took := now.Sub(c.clock)
	c.clock = now
	e.usage[c.lane].count(n, took)
	if c.s.o.Observe != nil {
		c.s.o.Observe(c, e.Command, n, took)
	}
}

// replied counts the replies that begin at mark, drops them if they are muted, and sends them if
// they are large.
func (c *Conn) replied(n, mark int) {
	c.ran += n
	if c.mute != 0 {
		c.out = c.out[:mark]
		if c.mute != muted {
			c.mute--
		}
		return
	}
	c.replies += n
	if len(c.out) > maxUnflushed && !c.overflows() {
		c.flush()
		c.clock = time.Now()
	}
}

// overflows disconnects a client whose replies exceed the output limit.
func (c *Conn) overflows() bool {
	if len(c.out) > c.limits.Output && !c.broken {
		c.logger().Warn("client disconnected", event.ClientDisconnected, "reason", "replies exceed the output limit", "bytes", len(c.out))
		c.broken = true
	}
	return c.broken
}

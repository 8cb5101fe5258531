package resp

import (
	"bytes"
	"strings"
	"time"
)

// mostCalls is the calls that RunAll gets at once.
const mostCalls = 1024

// muted is Conn.mute after CLIENT REPLY OFF.
const muted = -1

// run is calls of one command in a row.
type run struct {
	cmd   *entry
	calls [][][]byte
}

// answer runs the commands that are whole. It stops at as many as the client may run in a second, and
// reports whether there may be more.
func (c *Conn) answer() (more bool) {
	c.clock = time.Now()
	c.state(running, c.clock)
	c.s.gate.RLock()
	for !c.last && !c.broken {
		if c.pace != nil && c.ran+len(c.ahead.calls) >= c.pace.Burst() {
			more = true
			break
		}
		c.in.stranger = c.stranger()
		args, err := c.in.next()
		if err != nil {
			if c.runAhead(); !c.last {
				c.fail(err)
			}
			break
		}
		if args == nil {
			break
		}
		c.take(args)
	}
	c.runAhead()
	c.s.gate.RUnlock()
	if c.in.release() {
		c.args, c.ahead = nil, run{}
	}
	return more
}

// stranger reports whether the client has yet to say who it is.
func (c *Conn) stranger() bool { return c.User == nil && c.s.o.Auth != nil }

// take puts a call to those that run together, or runs those and begins anew.
func (c *Conn) take(args [][]byte) {
	if len(c.ahead.calls) > 0 {
		if c.joins(args) {
			c.ahead.calls = append(c.ahead.calls, args)
			return
		}
		c.runAhead()
		if c.last || c.broken {
			return
		}
	}
	e, reply := c.s.commands.resolve(args)
	if reply == "" {
		reply = c.refusal(e, args)
	}
	switch {
	case reply != "":
		c.refuse(args, reply)
	case c.tx.open && !e.now:
		c.tell(func() { c.queue(e, args) })
	default:
		c.ahead.cmd = e
		c.ahead.calls = append(c.ahead.calls, args)
		if e.alone || c.mute != 0 {
			c.runAhead()
		}
	}
}

// joins reports whether a call runs together with those before it, and needs no look of its own at
// whether it may.
func (c *Conn) joins(args [][]byte) bool {
	r := &c.ahead
	first := r.calls[0]
	if !bytes.Equal(args[0], first[0]) || r.cmd.isSub || r.cmd.subs != nil || !r.cmd.fits(len(args)) || len(r.calls) == mostCalls {
		return false
	}
	k := r.cmd.FirstKey
	if k <= 0 {
		return c.s.o.Allow == nil || len(args) == 1
	}
	if r.cmd.RunAll == nil && c.s.o.Allow == nil {
		return true
	}
	return k < len(args) && k < len(first) && bytes.Equal(args[k], first[k]) && (r.cmd.oneKey || c.s.o.Allow == nil)
}

// refusal returns the error of a command that the client may not run, or not now.
func (c *Conn) refusal(e *entry, args [][]byte) string {
	if e.open {
		return ""
	}
	if c.stranger() {
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

// refuse answers a call that isn't run. What a browser sends gets no answer: a page may have been
// made to send it.
func (c *Conn) refuse(args [][]byte, reply string) {
	if bytes.EqualFold(args[0], []byte("post")) || bytes.EqualFold(args[0], []byte("host:")) {
		c.s.o.Log.Warn("a client that speaks HTTP was cut", "addr", c.nc.RemoteAddr())
		c.last = true
		return
	}
	if c.tx.open && bytes.EqualFold(args[0], []byte("exec")) {
		c.endTransaction()
		reply = "EXECABORT Transaction discarded because of: " + strings.TrimPrefix(reply, "ERR ")
	}
	c.tx.failed = true
	c.tell(func() { c.Error(reply) })
}

// tell makes one reply.
func (c *Conn) tell(reply func()) {
	mark := len(c.out)
	reply()
	c.replied(1, mark)
}

// runAhead runs the calls that were put together.
func (c *Conn) runAhead() {
	n := len(c.ahead.calls)
	if n == 0 {
		return
	}
	e := c.ahead.cmd
	c.args = c.ahead.calls[0]
	if c.latest.Load() != e.Command {
		c.latest.Store(e.Command)
	}
	if e.RunAll != nil && n > 1 {
		mark := len(c.out)
		e.RunAll(c, c.ahead.calls)
		c.failure = ""
		c.replied(n, mark)
	} else {
		for i, args := range c.ahead.calls {
			mark := len(c.out)
			e.Run(c, args)
			c.judge(mark)
			c.replied(1, mark)
			if c.last || c.broken {
				n = i + 1
				break
			}
		}
	}
	c.observe(e.Command, n)
	c.ahead.calls = c.ahead.calls[:0]
}

// judge looks whether the reply that begins at mark is an error.
func (c *Conn) judge(mark int) {
	c.failure = ""
	if mark < len(c.out) && c.out[mark] == '-' {
		text, _, _ := bytes.Cut(c.out[mark+1:], []byte("\r\n"))
		c.failure = string(text)
	}
}

func (c *Conn) observe(cmd *Command, n int) {
	if c.s.o.Observe == nil {
		return
	}
	now := time.Now()
	c.s.o.Observe(c, cmd, n, now.Sub(c.clock))
	c.clock = now
}

// replied counts the replies that begin at mark, drops them if the client wants none, and writes
// them if there are many.
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
	if len(c.out) > mostOutput && !c.overflows() {
		c.s.gate.RUnlock()
		c.flush()
		c.clock = time.Now()
		c.s.gate.RLock()
	}
}

// overflows cuts a client for which there are too many bytes of replies.
func (c *Conn) overflows() bool {
	if len(c.out) > c.limits.Output && !c.broken {
		c.s.o.Log.Warn("a client was cut: its replies are larger than the limit", "addr", c.nc.RemoteAddr(), "bytes", len(c.out))
		c.broken = true
	}
	return c.broken
}

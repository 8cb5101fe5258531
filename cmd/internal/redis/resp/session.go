package resp

import (
	"bytes"
	"fmt"
	"strconv"
)

// sessionNames are the commands that change how later commands are parsed, allowed or answered.
var sessionNames = []string{"auth", "client", "discard", "exec", "hello", "multi", "quit", "readonly", "readwrite", "reset", "unwatch", "watch"}

// sessionCommands are the commands that concern only the connection.
func sessionCommands() Table {
	all := Table{
		"ping": {Arity: -1, Flags: []string{"fast"}, Categories: []string{"@fast", "@connection"}, Summary: "Returns PONG or the argument.", Run: ping},
		"echo": {Arity: 2, Flags: []string{"loading", "stale", "fast"}, Categories: []string{"@fast", "@connection"},
			Summary: "Returns the argument.", Run: func(c *Conn, args [][]byte) { c.Bulk(args[1]) }},
		"quit": {Arity: -1, Flags: []string{"noscript", "loading", "stale", "fast", "no_auth", "allow_busy"},
			Categories: []string{"@fast", "@connection"}, Summary: "Closes the connection.", Run: quit},
		"reset": {Arity: 1, Flags: []string{"noscript", "loading", "stale", "fast", "no_auth", "allow_busy"},
			Categories: []string{"@fast", "@connection"}, Summary: "Resets the connection.", Run: reset},
		"hello": {Arity: -1, Flags: []string{"noscript", "loading", "stale", "fast", "no_auth", "allow_busy"},
			Categories: []string{"@fast", "@connection"}, Summary: "Selects the protocol version and authenticates.", Run: hello},
		"auth": {Arity: -2, Flags: []string{"noscript", "loading", "stale", "fast", "no_auth", "allow_busy"},
			Categories: []string{"@fast", "@connection"}, Summary: "Authenticates the connection.", Run: auth},
		"select": {Arity: 2, Flags: []string{"loading", "stale", "fast"}, Categories: []string{"@fast", "@connection"},
			Summary: "Selects a database; only 0 exists.", Run: selectDatabase},
	}
	for _, t := range []Table{clientCommands(), commandCommands(), transactionCommands(), slotCommands()} {
		for name, cmd := range t {
			all[name] = cmd
		}
	}
	for name, cmd := range all {
		cmd.Name = name
		cmd.Group = "connection"
	}
	for name := range transactionCommands() {
		all[name].Group = "transactions"
	}
	return all
}

func ping(c *Conn, args [][]byte) {
	switch len(args) {
	case 1:
		c.out = append(c.out, "+PONG\r\n"...)
	case 2:
		c.Bulk(args[1])
	default:
		c.Error("ERR wrong number of arguments for 'ping' command")
	}
}

func quit(c *Conn, _ [][]byte) {
	c.closing = true
	c.Simple("OK")
}

func reset(c *Conn, _ [][]byte) {
	c.endTransaction()
	c.setVersion(2)
	c.mute = 0
	c.replica = false
	c.mu.Lock()
	c.name = ""
	c.mu.Unlock()
	c.welcome()
	c.Simple("RESET")
}

// welcome sets the user before AUTH.
func (c *Conn) welcome() {
	c.User = nil
	if c.s.o.Default != nil {
		c.User = c.s.o.Default(c)
	}
	c.setUser("default")
}

// setUser sets the user name for CLIENT LIST: that of a Stringer, otherwise user.
func (c *Conn) setUser(user string) {
	if s, ok := c.User.(fmt.Stringer); ok {
		user = s.String()
	}
	c.mu.Lock()
	c.user = user
	c.mu.Unlock()
	c.noteUser()
}

func auth(c *Conn, args [][]byte) {
	user, password := "default", args[1]
	switch {
	case len(args) > 3:
		c.Error("ERR syntax error")
		return
	case len(args) == 3:
		user, password = string(args[1]), args[2]
	case c.s.o.Auth == nil:
		c.Error("ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?")
		return
	}
	if reply := c.login(user, password); reply != "" {
		c.Error(reply)
		return
	}
	c.Simple("OK")
}

// login authenticates the client. It returns an error reply, or "".
func (c *Conn) login(user string, password []byte) string {
	if c.s.o.Auth == nil {
		if user != "default" {
			return "WRONGPASS invalid username-password pair or user is disabled."
		}
		return ""
	}
	if c.inExec { // other clients would wait for the keys
		return "ERR AUTH is not allowed inside a transaction"
	}
	c.mayWait() // hashing a password takes long
	u, err := c.s.o.Auth(c, user, string(password))
	if err != nil {
		return err.Error()
	}
	c.User = u
	c.setUser(user)
	return ""
}

func hello(c *Conn, args [][]byte) {
	version, login, name := c.version, [][]byte(nil), []byte(nil)
	if len(args) > 1 {
		v, ok := number(args[1])
		if !ok {
			c.Error("ERR Protocol version is not an integer or out of range")
			return
		}
		if v != 2 && v != 3 {
			c.Error("NOPROTO unsupported protocol version")
			return
		}
		version = v
	}
	for i := 2; i < len(args); i++ {
		switch left := args[i+1:]; {
		case bytes.EqualFold(args[i], []byte("AUTH")) && len(left) >= 2:
			login = left[:2]
			i += 2
		case bytes.EqualFold(args[i], []byte("SETNAME")) && len(left) >= 1:
			name = left[0]
			if !validName(name) {
				c.Error(badName)
				return
			}
			i++
		default:
			c.Error("ERR Syntax error in HELLO option '" + clip(args[i], len(args[i])) + "'")
			return
		}
	}
	if login != nil {
		if reply := c.login(string(login[0]), login[1]); reply != "" {
			c.Error(reply)
			return
		}
	}
	if c.unauthenticated() {
		c.Error("NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO AUTH <user> <pass> " +
			"option can be used to authenticate the client and select the RESP protocol version at the same time")
		return
	}
	if name != nil {
		c.rename(name)
	}
	c.setVersion(version)
	c.greet()
}

func (c *Conn) greet() {
	c.Map(7)
	c.BulkString("server")
	c.BulkString("redis")
	c.BulkString("version")
	c.BulkString(c.s.o.Redis)
	c.BulkString("proto")
	c.Int(int64(c.version))
	c.BulkString("id")
	c.Int(c.id)
	c.BulkString("mode")
	if c.s.o.Slots == nil {
		c.BulkString("standalone")
	} else {
		c.BulkString("cluster")
	}
	c.BulkString("role")
	if c.s.o.Follows != nil && c.s.o.Follows() {
		c.BulkString("replica")
	} else {
		c.BulkString("master")
	}
	c.BulkString("modules")
	c.Array(len(c.s.o.Modules))
	for _, m := range c.s.o.Modules {
		c.Map(4)
		c.BulkString("name")
		c.BulkString(m.Name)
		c.BulkString("ver")
		c.Int(m.Version)
		c.BulkString("path")
		c.BulkString("")
		c.BulkString("args")
		c.Array(0)
	}
}

func selectDatabase(c *Conn, args [][]byte) {
	n, err := strconv.ParseInt(string(args[1]), 10, 64)
	switch {
	case err != nil || strconv.FormatInt(n, 10) != string(args[1]):
		c.Error("ERR value is not an integer or out of range")
	case n != int64(int32(n)):
		c.Error("ERR value is out of range, value must between -2147483648 and 2147483647")
	case n != 0 && c.s.o.Slots != nil:
		c.Error("ERR SELECT is not allowed in cluster mode")
	case n != 0:
		c.Error("ERR DB index is out of range")
	default:
		c.Simple("OK")
	}
}

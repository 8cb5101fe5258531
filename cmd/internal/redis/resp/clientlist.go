package resp

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

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
			all = append(all, func(o *Conn) bool { return o.local().String() == value })
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

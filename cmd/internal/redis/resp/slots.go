package resp

import "github.com/umbel-filters/umbel/cmd/internal/redis/slots"

// slotCommands choose whether a node of a slot map that does not lead its shard answers queries of the connection.
func slotCommands() Table {
	flags, categories := []string{"loading", "stale", "fast"}, []string{"@fast", "@connection"}
	return Table{
		"readonly": {Arity: 1, Flags: flags, Categories: categories,
			Summary: "Accepts answers of a node that does not lead its shard.", Run: acceptReplica(true)},
		"readwrite": {Arity: 1, Flags: flags, Categories: categories,
			Summary: "Ends READONLY.", Run: acceptReplica(false)},
	}
}

func acceptReplica(replica bool) func(*Conn, [][]byte) {
	return func(c *Conn, _ [][]byte) {
		if c.s.o.Slots == nil {
			c.Error(NoSlots)
			return
		}
		c.replica = replica
		c.Simple("OK")
	}
}

// Slots returns the place of the node in a slot map, nil if it has none.
func (s *Server) Slots() *slots.Place { return s.o.Slots }

// NoSlots is the reply to commands for a slot map of a node without one.
const NoSlots = "ERR This instance has cluster support disabled"

// checkSlot returns an error reply if the keys of a call have several slots or are not here.
func (c *Conn) checkSlot(e *entry, args [][]byte) string {
	slot, same := -1, true
	e.Keys(args, func(key []byte) bool {
		s := slots.Of(key)
		same = slot < 0 || s == slot
		slot = s
		return same
	})
	switch {
	case !same:
		return slots.CrossSlot
	case slot < 0:
		return ""
	}
	return c.s.o.Slots.View().Reply(slot, e.write, c.replica)
}

// checkSlots is checkSlot for all keys of a transaction. They were checked when they were queued, but the map may have changed.
func (c *Conn) checkSlots(tx *transaction) string {
	if c.s.o.Slots == nil {
		return ""
	}
	slot := -1
	for _, q := range tx.calls {
		if reply := c.checkSlot(q.cmd, q.args); reply != "" {
			return reply
		}
		same := true
		q.cmd.Keys(q.args, func(key []byte) bool {
			s := slots.Of(key)
			same = slot < 0 || s == slot
			slot = s
			return false // the others of the call have the same slot
		})
		if !same {
			return slots.CrossSlot
		}
	}
	return ""
}

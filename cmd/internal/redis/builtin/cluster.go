package builtin

import (
	"fmt"
	"slices"
	"strings"

	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/node/access"
	"github.com/umbel-filters/umbel/cmd/internal/redis/command"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
	"github.com/umbel-filters/umbel/cmd/internal/redis/slots"
)

// cluster are the subcommands of CLUSTER, with which clients of Redis Cluster read a slot map. They need no right: addresses of
// nodes are not names of filters, and clients read the map before anything else.
func (k *builtin) cluster() []command.Row {
	rows := []command.Row{
		{Name: "cluster", Arity: -2, Categories: "slow", Summary: "Reads the slot map."},
		{Name: "cluster|slots", Arity: 2, Summary: "Returns the slot map as ranges of slots with their nodes.", Run: withMap(clusterSlots)},
		{Name: "cluster|shards", Arity: 2, Summary: "Returns the slot map as shards.", Run: withMap(clusterShards)},
		{Name: "cluster|nodes", Arity: 2, Summary: "Returns the slot map as a line for each node.", Run: withMap(clusterNodes)},
		{Name: "cluster|info", Arity: 2, Summary: "Returns numbers of slots and nodes.", Run: withMap(clusterInfo)},
		{Name: "cluster|myid", Arity: 2, Summary: "Returns the node's ID.", Run: withMap(func(c *resp.Conn, v *slots.View, _ [][]byte) {
			c.BulkString(slots.Node{Addr: v.Self}.ID())
		})},
		{Name: "cluster|keyslot", Arity: 3, Summary: "Returns the slot of a name.", Run: withMap(func(c *resp.Conn, _ *slots.View, args [][]byte) {
			c.Int(int64(slots.Of(args[2])))
		})},
		{Name: "cluster|countkeysinslot", Arity: 3, Summary: "Returns the number of filters of a slot on this node.", Run: withMap(k.countInSlot)},
		{Name: "cluster|getkeysinslot", Arity: 4, Summary: "Returns names of filters of a slot on this node.", Run: withMap(k.namesInSlot)},
		{Name: "cluster|links", Arity: 2, Summary: "Returns nothing: nodes have no links.", Run: withMap(func(c *resp.Conn, _ *slots.View, _ [][]byte) {
			c.Array(0)
		})},
		{Name: "cluster|help", Arity: 2, Flags: "loading stale", Summary: "Lists the subcommands.", Run: withMap(clusterHelp)},
	}
	for _, name := range []string{"replicas", "slaves"} {
		rows = append(rows, command.Row{Name: "cluster|" + name, Arity: 3, Flags: "admin stale", Categories: "admin slow dangerous",
			Summary: "Returns the nodes that follow a node.", Run: withMap(clusterReplicas)})
	}
	for name, arity := range map[string]int{"addslots": -3, "addslotsrange": -4, "bumpepoch": 2, "delslots": -3,
		"delslotsrange": -4, "failover": -2, "flushslots": 2,
		"forget": 3, "meet": -4, "replicate": 3, "reset": -2, "saveconfig": 2, "set-config-epoch": 3, "setslot": -4} {
		flags := "admin stale no_async_loading"
		if name == "reset" {
			flags = "admin noscript stale"
		}
		rows = append(rows, command.Row{Name: "cluster|" + name, Arity: arity, Right: access.Admin, Flags: flags,
			Categories: "admin slow dangerous", Summary: "Not supported: the slot map is a file.", Run: withMap(mapIsFile)})
	}
	for i := range rows {
		if rows[i].Categories == "" {
			rows[i].Categories = "slow"
		}
		if rows[i].Flags == "" && rows[i].Name != "cluster" {
			rows[i].Flags = "stale"
		}
	}
	return rows
}

// withMap returns a command that needs a slot map.
func withMap(run func(c *resp.Conn, v *slots.View, args [][]byte)) func(*resp.Conn, [][]byte) {
	return func(c *resp.Conn, args [][]byte) {
		if p := c.Server().Slots(); p != nil {
			run(c, p.View(), args)
			return
		}
		c.Error(resp.NoSlots)
	}
}

func mapIsFile(c *resp.Conn, _ *slots.View, args [][]byte) {
	c.Error(fmt.Sprintf("ERR CLUSTER %s is not supported: nodes do not decide about slots; change the file of the slot map (slot-map) and reload the nodes",
		strings.ToUpper(command.Clip(args[1]))))
}

// clusterSlots replies the ranges in the order of slots. A shard that nobody leads is left out, as in Redis.
func clusterSlots(c *resp.Conn, v *slots.View, _ [][]byte) {
	type entry struct {
		slots.Range
		nodes []slots.Node
	}
	var all []entry
	for i, s := range v.Shards {
		if nodes := v.LeaderFirst(i); v.Leader(i) != nil {
			for _, r := range s.Ranges {
				all = append(all, entry{r, nodes})
			}
		}
	}
	slices.SortFunc(all, func(a, b entry) int { return a.First - b.First })
	c.Array(len(all))
	for _, e := range all {
		c.Array(2 + len(e.nodes))
		c.Int(int64(e.First))
		c.Int(int64(e.Last))
		for _, n := range e.nodes {
			c.Array(4)
			c.BulkString(n.Host())
			c.Int(int64(n.Port()))
			c.BulkString(n.ID())
			c.Map(0)
		}
	}
}

func clusterShards(c *resp.Conn, v *slots.View, _ [][]byte) {
	port := "port"
	if c.TLS() != nil {
		port = "tls-port"
	}
	c.Array(len(v.Shards))
	for i, s := range v.Shards {
		c.Map(2)
		c.BulkString("slots")
		c.Array(2 * len(s.Ranges))
		for _, r := range s.Ranges {
			c.Int(int64(r.First))
			c.Int(int64(r.Last))
		}
		c.BulkString("nodes")
		c.Array(len(s.Nodes))
		for _, n := range v.LeaderFirst(i) {
			c.Map(7)
			c.BulkString("id")
			c.BulkString(n.ID())
			c.BulkString(port)
			c.Int(int64(n.Port()))
			c.BulkString("ip")
			c.BulkString(n.Host())
			c.BulkString("endpoint")
			c.BulkString(n.Host())
			c.BulkString("role")
			c.BulkString(roleOf(v, i, n))
			c.BulkString("replication-offset")
			c.Int(0)
			c.BulkString("health")
			c.BulkString("online")
		}
	}
}

// roleOf returns the role of a node in CLUSTER SHARDS.
func roleOf(v *slots.View, shard int, n slots.Node) string {
	if l := v.Leader(shard); l != nil && l.Addr == n.Addr {
		return "master"
	}
	return "replica"
}

func clusterNodes(c *resp.Conn, v *slots.View, _ [][]byte) {
	var b strings.Builder
	for i, s := range v.Shards {
		for _, n := range s.Nodes {
			b.WriteString(nodeLine(v, i, n))
		}
	}
	if !v.Present() { // a node that the map has no more
		b.WriteString(describeNode(slots.Node{Addr: v.Self}, "myself,master", "-") + "\n")
	}
	c.Verbatim(b.String())
}

// nodeLine returns the line of a node in CLUSTER NODES.
func nodeLine(v *slots.View, shard int, n slots.Node) string {
	flags, leader := "slave", "-"
	if l := v.Leader(shard); l != nil {
		leader = l.ID()
	}
	leads := leader == n.ID()
	if leads {
		flags, leader = "master", "-"
	}
	if n.Addr == v.Self {
		flags = "myself," + flags
	}
	line := describeNode(n, flags, leader)
	if leads {
		for _, r := range v.Shards[shard].Ranges {
			line += " " + r.String()
		}
	}
	return line + "\n"
}

// describeNode returns the fields of a line of CLUSTER NODES before the slots. No node has a bus: its port is that of Redis, or 0.
func describeNode(n slots.Node, flags, leader string) string {
	bus := n.Port() + 10000
	if bus > 65535 {
		bus = 0
	}
	return fmt.Sprintf("%s %s@%d %s %s 0 0 1 connected", n.ID(), n.Addr, bus, flags, leader)
}

func clusterInfo(c *resp.Conn, v *slots.View, _ [][]byte) {
	nodes, led := 0, slots.Count
	for i, s := range v.Shards {
		nodes += len(s.Nodes)
		if v.Leader(i) == nil {
			for _, r := range s.Ranges {
				led -= r.Last - r.First + 1
			}
		}
	}
	state := "ok"
	if led < slots.Count {
		state = "fail"
	}
	c.Verbatim(fmt.Sprintf("cluster_state:%s\r\ncluster_slots_assigned:%d\r\ncluster_slots_ok:%d\r\ncluster_slots_pfail:0\r\ncluster_slots_fail:%d\r\n"+
		"cluster_known_nodes:%d\r\ncluster_size:%d\r\ncluster_current_epoch:1\r\ncluster_my_epoch:1\r\n"+
		"cluster_stats_messages_sent:0\r\ncluster_stats_messages_received:0\r\ntotal_cluster_links_buffer_limit_exceeded:0\r\n",
		state, slots.Count, led, slots.Count-led, nodes, len(v.Shards)))
}

func clusterReplicas(c *resp.Conn, v *slots.View, args [][]byte) {
	for i, s := range v.Shards {
		for _, n := range s.Nodes {
			if n.ID() != string(args[2]) {
				continue
			}
			if roleOf(v, i, n) != "master" {
				c.Error("ERR The specified node is not a master")
				return
			}
			c.Array(len(s.Nodes) - 1)
			for _, n := range v.LeaderFirst(i)[1:] {
				c.BulkString(strings.TrimSuffix(nodeLine(v, i, n), "\n"))
			}
			return
		}
	}
	c.Error("ERR Unknown node " + command.Clip(args[2]))
}

func (k *builtin) countInSlot(c *resp.Conn, _ *slots.View, args [][]byte) {
	slot, ok := command.ParseInt(args[2])
	switch {
	case !ok:
		c.Error(notWhole)
	case slot < 0 || slot >= slots.Count:
		c.Error("ERR Invalid slot")
	default:
		n := int64(0)
		k.each(func(f *engine.Filter) {
			if slots.Of([]byte(f.Name())) == int(slot) {
				n++
			}
		})
		c.Int(n)
	}
}

// namesInSlot replies the names that the user may read.
func (k *builtin) namesInSlot(c *resp.Conn, _ *slots.View, args [][]byte) {
	slot, ok := command.ParseInt(args[2])
	most, isNumber := command.ParseInt(args[3])
	switch {
	case !ok || !isNumber:
		c.Error(notWhole)
		return
	case slot < 0 || slot >= slots.Count || most < 0:
		c.Error("ERR Invalid slot or number of keys")
		return
	}
	var names []string
	k.each(func(f *engine.Filter) {
		if int64(len(names)) < most && slots.Of([]byte(f.Name())) == int(slot) && canRead(c, f) {
			names = append(names, f.Name())
		}
	})
	c.Array(len(names))
	for _, name := range names {
		c.BulkString(name)
	}
}

func clusterHelp(c *resp.Conn, _ *slots.View, _ [][]byte) {
	c.Help("CLUSTER",
		"COUNTKEYSINSLOT <slot>", "    Return the number of filters of <slot> on this node.",
		"GETKEYSINSLOT <slot> <count>", "    Return names of filters of <slot> on this node.",
		"INFO", "    Return numbers of slots and nodes.",
		"KEYSLOT <key>", "    Return the slot of <key>.",
		"LINKS", "    Return nothing: nodes have no links.",
		"MYID", "    Return the ID of the node, which depends on its address in the slot map.",
		"NODES", "    Return the slot map as a line for each node:",
		"    <id> <ip:port> <flags> <master> <pings> <pongs> <epoch> <link> <slot> ...",
		"REPLICAS <node-id>", "    Return the nodes that follow <node-id>.",
		"SHARDS", "    Return the slot map as shards with their nodes.",
		"SLOTS", "    Return the slot map as ranges of slots with their nodes: start, end, the leading one and others.")
}

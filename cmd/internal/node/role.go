package node

import (
	"cmp"
	"fmt"
	"net"
	"strconv"

	"github.com/umbel-filters/umbel/cmd/internal/group/member"
	"github.com/umbel-filters/umbel/cmd/internal/redis/builtin"
	"github.com/umbel-filters/umbel/internal/event"
)

// follows reports whether another node makes the changes of the filters here: the leader of the group, or without a group that of the
// node's shard in the slot map. It is the role in INFO, ROLE and HELLO.
func (n *Node) follows() bool {
	switch {
	case n.member != nil:
		return !n.member.Leads()
	case n.place != nil:
		v := n.place.View()
		return v.Present() && !v.Leads()
	}
	return false
}

// leader returns the address of the node that is followed for Redis clients, "" if it is unknown.
func (n *Node) leader() string {
	if n.member != nil {
		return n.member.Leader().RESP
	}
	v := n.place.View()
	if l := v.Leader(v.Own()); l != nil {
		return l.Addr
	}
	return ""
}

// placeLeader states in the slot map who leads the group; zero: nobody, or it is unknown.
func (n *Node) placeLeader(a member.Address) {
	if n.place != nil && !n.place.Lead(a.RESP) {
		n.log.Warn("the slot map does not have the leader of the group on the line of this node, so changes are refused until it has; "+
			"correct the map, or set advertise of that node to its address there", event.GroupTrouble, "leader", a.RESP, "map", n.config.SlotMap)
	}
}

// Replication is the section of INFO about the roles of nodes, as Redis has it.
func (n *Node) Replication() builtin.Section {
	position, age, link, g := "0", 0.0, "up", n.groupStatus()
	if g != nil {
		position, age = fmt.Sprint(g.Position), g.AgeSeconds
		if g.Problem != "" {
			link = "down"
		}
	}
	fields := [][2]string{{"role", "master"}}
	if n.follows() {
		leader := n.leader()
		if leader == "" {
			link = "down"
		}
		host, port, _ := net.SplitHostPort(leader)
		fields = [][2]string{
			{"role", "slave"}, {"master_host", host}, {"master_port", cmp.Or(port, "0")}, {"master_link_status", link},
			{"master_last_io_seconds_ago", strconv.Itoa(int(age))}, {"master_sync_in_progress", "0"},
			{"slave_repl_offset", position}, {"slave_read_only", "1"},
		}
	}
	fields = append(fields, [2]string{"connected_slaves", "0"}, [2]string{"master_repl_offset", position})
	if g != nil {
		fields = append(fields, [][2]string{
			{"umbel_group_role", g.Role}, {"umbel_group_leader", g.Leader}, {"umbel_group_epoch", fmt.Sprint(g.Epoch)}, {"umbel_group_batch", fmt.Sprint(g.Batch)},
			{"umbel_group_age_milliseconds", fmt.Sprint(int64(g.AgeSeconds * 1000))}, {"umbel_group_problem", g.Problem},
		}...)
	}
	return builtin.Section{Name: "Replication", Fields: fields}
}

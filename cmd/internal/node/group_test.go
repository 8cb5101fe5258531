package node

import (
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/group/logdir"
	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/internal/await"
)

// groupConfigs returns the settings of n members of a group. Its log is a directory.
func groupConfigs(t *testing.T, n int) []Config {
	log := "file://" + filepath.ToSlash(t.TempDir())
	cs := make([]Config, n)
	for i := range cs {
		cs[i] = testConfig(t)
		cs[i].Log, cs[i].Logs = log, sharedlog.Openers{"file": logdir.Open}
		cs[i].Advertise = fmt.Sprintf("m%d:1", i)
	}
	return cs
}

// startedMember starts a member that the test stops.
func startedMember(t *testing.T, c Config) *Node {
	t.Helper()
	n, err := Start(t.Context(), c, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// checkRole expects INFO, ROLE and HELLO to name the leader of a member, "" for the member itself.
func checkRole(t *testing.T, n *Node, leader string) {
	t.Helper()
	role, hello, reply := "master", "master", `*3[$6:"master", `
	if host, port, ok := strings.Cut(leader, ":"); ok {
		role, hello = `slave\r\nmaster_host:`+host+`\r\nmaster_port:`+port, "replica"
		reply = fmt.Sprintf(`*5[$5:"slave", $%d:"%s", :%s, $9:"connected", `, len(host), host, port)
	}
	c := dial(t, n, nil)
	c.Want("ROLE", reply)
	if got := c.Line("INFO replication"); !strings.Contains(got, `role:`+role+`\r\n`) {
		t.Errorf("%s: INFO: %s, want role:%s", n.config.Advertise, got, role)
	}
	if got := c.Line("HELLO"); !strings.Contains(got, fmt.Sprintf(`$4:"role", $%d:"%s"`, len(hello), hello)) {
		t.Errorf("%s: HELLO: %s, want role %s", n.config.Advertise, got, hello)
	}
}

// failover starts a group, lets its leader end, and calls check before and after that with a follower and its leader.
func failover(t *testing.T, cs []Config, check func(follower, leader *Node)) {
	ns := make([]*Node, len(cs))
	leading := func() *Node {
		for _, n := range ns {
			if n != nil && n.Writable() == nil {
				return n
			}
		}
		return nil
	}
	checkAll := func(leader *Node) {
		t.Helper()
		for _, n := range ns {
			if n != nil && n != leader {
				await.True(t, "a follower knows the leader", func() bool { return n.member.Leader().RESP == leader.config.Advertise })
				await.True(t, "a follower has the filters", func() bool { return n.engine.Position() == leader.engine.Position() })
				check(n, leader)
			}
		}
	}
	for i, c := range cs {
		ns[i] = startedMember(t, c)
		defer func() {
			if ns[i] != nil {
				stopped(t, ns[i])
			}
		}()
		await.True(t, "the first one leads", func() bool { return ns[0].Writable() == nil })
	}
	dial(t, ns[0], nil).Want("BF.ADD a x", ":1")
	checkAll(ns[0])

	stopped(t, ns[0])
	ns[0] = nil
	await.True(t, "another one leads", func() bool { return leading() != nil })
	second := leading()
	dial(t, second, nil).Want("BF.ADD a y", ":1")
	checkAll(second)

	ns[0] = startedMember(t, cs[0])
	checkAll(second)
}

// Members of a group on one line of a slot map redirect clients to the member that leads by the log. The map has no URLs by which they
// could find it otherwise. After READONLY they answer queries.
func TestGroupWithSlotMap(t *testing.T) {
	cs := groupConfigs(t, 3)
	for i := range cs {
		cs[i].SlotMap = filepath.Join(t.TempDir(), "slots")
		writeMap(t, cs[i], "0-16383 m1:1 m0:1 m2:1\n") // the first one of the line does not lead at first
	}
	failover(t, cs, func(follower, leader *Node) {
		checkRole(t, leader, "")
		checkRole(t, follower, leader.config.Advertise)
		moved := "-MOVED 15495 " + leader.config.Advertise
		c := dial(t, follower, nil)
		c.Expect("BF.ADD a z", moved, "BF.EXISTS a x", moved, "READONLY", "+OK", "BF.EXISTS a x", ":1", "BF.ADD a z", moved)
		c.Want("FLUSHALL", "-READONLY ")
		if status, text := send(t, follower, "POST", "/v1/filters/a/add", api.MediaJSON, `{"keys":["z"]}`); status != http.StatusMisdirectedRequest ||
			!strings.Contains(text, leader.config.Advertise) {
			t.Errorf("over HTTP: %d %s", status, text)
		}
		if got := c.Line("CLUSTER SLOTS"); !strings.Contains(got, fmt.Sprintf(`[:0, :16383, *4[$2:"%s"`, leader.config.Advertise[:2])) {
			t.Errorf("CLUSTER SLOTS: %s", got)
		}
	})
}

// Without a slot map they refuse changes with the address of the leader, and answer queries.
func TestGroupWithoutSlotMap(t *testing.T) {
	failover(t, groupConfigs(t, 2), func(follower, leader *Node) {
		checkRole(t, leader, "")
		checkRole(t, follower, leader.config.Advertise)
		c := dial(t, follower, nil)
		c.Expect("BF.EXISTS a x", ":1")
		if got := c.Line("BF.ADD a z"); !strings.HasPrefix(got, "-READONLY ") || !strings.Contains(got, leader.config.Advertise) {
			t.Errorf("BF.ADD: %s", got)
		}
	})
}

package builtin

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
	"github.com/umbel-filters/umbel/cmd/internal/redis/slots"
	"github.com/umbel-filters/umbel/cmd/internal/testing/resptest"
	"github.com/umbel-filters/umbel/internal/await"
)

// mapped returns a change of options that gives a server the address self in a slot map.
func mapped(t *testing.T, self, text string) (*slots.Place, func(*resp.Options)) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "slots")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := slots.Open(file, self)
	if err != nil {
		t.Fatal(err)
	}
	return p, func(o *resp.Options) {
		o.Slots, o.Version, o.Follows = p, func([]byte) uint64 { return 0 }, func() bool { return !p.View().Leads() }
	}
}

// clusterConversation is what a client of Redis Cluster says to the first of two nodes, which has slots 0 to 8191. The names are of
// slots on both: a 15495, b 3300, foo 12182, ab 13567, {b}x 3300.
const clusterConversation = `
CLUSTER
CLUSTER FOO
CLUSTER SLOTS
CLUSTER SLOTS x
CLUSTER SHARDS
CLUSTER NODES
CLUSTER INFO
CLUSTER MYID
CLUSTER KEYSLOT foo
CLUSTER KEYSLOT x{foo}y
CLUSTER KEYSLOT
CLUSTER COUNTKEYSINSLOT 3300
CLUSTER COUNTKEYSINSLOT x
CLUSTER COUNTKEYSINSLOT 16384
CLUSTER COUNTKEYSINSLOT -1
CLUSTER GETKEYSINSLOT 3300 10
CLUSTER GETKEYSINSLOT 3300 -1
CLUSTER GETKEYSINSLOT 70000 1
CLUSTER GETKEYSINSLOT 3300 x
CLUSTER REPLICAS nobody
CLUSTER SLAVES nobody
CLUSTER MEET
READONLY
READWRITE
READONLY x
SELECT 0
SELECT 1
EXISTS b
EXISTS b {b}x
EXISTS a
EXISTS foo
EXISTS a b
EXISTS b a
EXISTS b a b
DEL a b
TYPE a
TTL foo
WATCH a b
WATCH b
MULTI
EXISTS b
EXEC
MULTI
EXISTS b
EXISTS a
EXEC
MULTI
EXISTS b
EXISTS c{x}
EXEC
MULTI
EXISTS {b}1
EXISTS c
EXISTS {b}2
EXEC
EXISTS b
DBSIZE
KEYS *
READONLY
EXISTS a
RESET
`

// A node of a slot map answers as a node of Redis Cluster with the same slots.
func TestAsRedisCluster(t *testing.T) {
	if testing.Short() {
		t.Skip("Redis Cluster accepts commands two seconds after its start")
	}
	real, addr := redisAt(t, "--cluster-enabled", "yes")
	other, otherAddr := redisAt(t, "--cluster-enabled", "yes")
	host, port, _ := net.SplitHostPort(otherAddr)
	if n, err := strconv.Atoi(port); err != nil || n > 55535 {
		t.Skipf("port %s has no bus port", port) // 10000 above
	}
	real.Want("CLUSTER ADDSLOTSRANGE 0 8191", "+OK")
	other.Want("CLUSTER ADDSLOTSRANGE 8192 16383", "+OK")
	other.Want("CLUSTER SET-CONFIG-EPOCH 2", "+OK")
	real.Want("CLUSTER SET-CONFIG-EPOCH 1", "+OK")
	real.Want(fmt.Sprintf("CLUSTER MEET %s %s", host, port), "+OK")
	await.True(t, "a cluster", func() bool {
		return strings.Contains(real.Line("CLUSTER INFO"), "cluster_state:ok") && strings.Contains(other.Line("CLUSTER INFO"), "cluster_state:ok")
	})
	_, place := mapped(t, addr, fmt.Sprintf("0-8191 %s\n8192-16383 %s\n", addr, otherAddr))
	for _, version := range []string{"2", "3"} {
		here := start(t, place)
		if version == "3" {
			for _, c := range []*resptest.Client{real, here.Client} {
				if got := c.Line("HELLO 3"); !strings.Contains(got, `$4:"mode", $7:"cluster", $4:"role", $6:"master"`) {
					t.Errorf("HELLO: %s", got)
				}
			}
		}
		for line := range strings.Lines(strings.TrimSpace(clusterConversation)) {
			line = strings.TrimSpace(line)
			want, got := withoutRandom(real.Line(line)), withoutRandom(here.Line(line))
			if got != want {
				t.Errorf("RESP%s %s\n got %s\nwant %s", version, line, got, want)
			}
		}
	}
}

var (
	ids     = regexp.MustCompile(`[0-9a-f]{40}`)
	pongs   = regexp.MustCompile(` - \d+ \d+ \d+ connected`)
	epochs  = regexp.MustCompile(`epoch:\d+`)
	sent    = regexp.MustCompile(`(cluster_stats_messages_(sent|received)):\d+`)
	details = regexp.MustCompile(`cluster_stats_messages_[a-z]+_(sent|received):\d+\\r\\n`)
	lengths = regexp.MustCompile(`^([$=])\d+:`)
)

// withoutRandom removes what is random or counted from a reply, and sorts nodes and shards, which Redis returns in any order.
func withoutRandom(reply string) string {
	for _, r := range []struct {
		find *regexp.Regexp
		by   string
	}{{ids, "ID"}, {pongs, " - 0 0 0 connected"}, {epochs, "epoch:N"}, {details, ""}, {sent, "$1:N"}} {
		reply = r.find.ReplaceAllString(reply, r.by)
	}
	if strings.Contains(reply, "connected") || strings.Contains(reply, "cluster_state") {
		reply = lengths.ReplaceAllString(reply, "$1:")
	}
	switch {
	case strings.Contains(reply, "connected"):
		lines := strings.Split(strings.TrimSuffix(strings.SplitN(reply, `"`, 2)[1], `\n"`), `\n`)
		lines[0] = strings.TrimPrefix(lines[0], "txt:")
		slices.Sort(lines)
		return strings.Join(lines, "\n")
	case strings.Contains(reply, "replication-offset"):
		shards := strings.Split(reply, `$5:"slots", `)
		for i, s := range shards {
			if at := strings.LastIndex(s, `"online"`); at >= 0 {
				shards[i] = s[:at]
			}
		}
		slices.Sort(shards)
		return strings.Join(shards, "\n")
	}
	return reply
}

// Without a slot map, commands for one are refused; with one, those that change slots are refused with the remedy.
func TestSlotMapRefusals(t *testing.T) {
	bare := start(t, nil)
	for _, line := range []string{"CLUSTER SLOTS", "CLUSTER HELP", "CLUSTER MEET a 1", "READONLY", "READWRITE"} {
		bare.Expect(line, "-"+resp.NoSlots)
	}
	_, place := mapped(t, "a:1", "0-16383 a:1\n")
	here := start(t, place)
	for _, line := range []string{"MEET b 1", "FAILOVER", "SETSLOT 1 STABLE", "ADDSLOTS 1", "RESET", "FORGET x", "REPLICATE x"} {
		word, _, _ := strings.Cut(line, " ")
		here.Want("CLUSTER "+line, "-ERR CLUSTER "+word+" is not supported: nodes do not decide about slots; change the file of the slot map")
	}
	here.Want("CLUSTER HELP", "*")
}

// A group has a leading node and replicas, which answer queries after READONLY. The others redirect, also transactions that were
// queued before the leader changed.
func TestGroupInSlotMap(t *testing.T) {
	p, place := mapped(t, "b:2", "0-8191 a:1 b:2\n8192-16383 c:3\n")
	here := start(t, place)
	id := func(addr string) string { return slots.Node{Addr: addr}.ID() }
	here.add("bloom", "b")
	here.Expect("EXISTS b", "-MOVED 3300 a:1", "READONLY", "+OK", "EXISTS b", ":1", "DEL b", "-MOVED 3300 a:1",
		"EXISTS a", "-MOVED 15495 c:3", "READWRITE", "+OK", "EXISTS b", "-MOVED 3300 a:1")
	if got := here.Line("CLUSTER NODES"); !strings.Contains(got, "b:2@10002 myself,slave "+id("a:1")+" 0 0 1 connected\\n") {
		t.Errorf("CLUSTER NODES: %s", got)
	}
	here.Want("CLUSTER REPLICAS "+id("a:1"), `*1[$`)
	here.Want("CLUSTER REPLICAS "+id("b:2"), "-ERR The specified node is not a master")
	here.Want("HELLO 3", `%7[$6:"server", $5:"redis", $7:"version", $5:"8.4.0", $5:"proto", :3, $2:"id", :1, $4:"mode", $7:"cluster", $4:"role", $7:"replica"`)

	p.Lead("b:2")
	here.Expect("EXISTS b", ":1")
	if got := here.Line("CLUSTER SLOTS"); !strings.Contains(got, fmt.Sprintf(`[:0, :8191, *4[$1:"b", :2, $40:"%s", %%0[]], *4[$1:"a", :1`, id("b:2"))) {
		t.Errorf("CLUSTER SLOTS: %s", got)
	}
	here.Expect("MULTI", "+OK", "EXISTS b", "+QUEUED")
	p.Lead("a:1")
	here.Expect("EXEC", "-MOVED 3300 a:1", "EXEC", "-ERR EXEC without MULTI")
	p.Lead("")
	here.Want("EXISTS b", "-CLUSTERDOWN")
	if got := here.Line("CLUSTER INFO"); !strings.Contains(got, `cluster_state:fail\r\ncluster_slots_assigned:16384\r\ncluster_slots_ok:8192`) {
		t.Errorf("CLUSTER INFO: %s", got)
	}
}

// ROLE replies what the section Replication of INFO says.
func TestRole(t *testing.T) {
	here := start(t, nil)
	here.Expect("ROLE", `*3[$6:"master", :0, *0[]]`)
	here.node.leader = "a:1"
	here.Expect("ROLE", `*5[$5:"slave", $1:"a", :1, $9:"connected", :7]`)
}

// Calls of one command with several keys in a pipeline are checked one by one.
func TestSlotsOfPipeline(t *testing.T) {
	_, place := mapped(t, "a:1", "0-8191 a:1\n8192-16383 c:3\n")
	here := start(t, place)
	here.add("bloom", "b")
	for _, name := range []string{"b", "b", "a", "b", "foo"} {
		here.Send("TYPE", name)
	}
	for _, want := range []string{"+string", "+string", "-MOVED 15495 c:3", "+string", "-MOVED 12182 c:3"} {
		if got := here.Reply(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

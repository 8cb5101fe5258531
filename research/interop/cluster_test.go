//go:build !noclients

package interop

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/umbel-filters/umbel/internal/await"
	"github.com/umbel-filters/umbel/internal/freeport"
	"github.com/umbel-filters/umbel/research/interop/internal/proc"
)

// cluster is three nodes with a slot map.
type cluster struct {
	nodes []*proc.Proc
	file  string // of the slot map
	turns int    // by which the thirds of the slots are with other nodes than at first
}

func startCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{file: filepath.Join(t.TempDir(), "slots")}
	addrs := make([]string, 3)
	for i := range addrs {
		var err error
		if addrs[i], err = freeport.Addr(); err != nil {
			t.Fatal(err)
		}
		c.nodes = append(c.nodes, &proc.Proc{Addr: addrs[i]})
	}
	c.writeMap(t)
	for i, addr := range addrs {
		p, err := proc.NodeAt(t.Context(), addr, umbel, t.TempDir(), "--slot-map", c.file)
		if err != nil {
			t.Fatal(err)
		}
		c.nodes[i] = p
		t.Cleanup(p.Kill)
	}
	return c
}

// thirds are the slots of the map's lines.
var thirds = []string{"0-5460", "5461-10922", "10923-16383"}

func (c *cluster) writeMap(t *testing.T) string {
	t.Helper()
	text := ""
	for i, slots := range thirds {
		text += fmt.Sprintf("%s %s\n", slots, c.nodes[(i+c.turns)%len(c.nodes)].Addr)
	}
	if err := os.WriteFile(c.file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return text
}

// turn gives each third of the slots to the next node, and waits until all nodes have read the map.
func (c *cluster) turn(t *testing.T) {
	t.Helper()
	c.turns++
	text := c.writeMap(t)
	for _, n := range c.nodes {
		if err := n.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range c.nodes {
		await.True(t, "a node has read the slot map", func() bool {
			answer, err := http.Get("http://" + n.HTTP + "/v1/slots")
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			b, err := io.ReadAll(answer.Body)
			return err == nil && string(b) == text
		})
	}
}

// check tests that the nodes to which the map gives the filters of a client have the second key of each.
func (c *cluster) check(t *testing.T, client string) {
	t.Helper()
	direct := make([]*goredis.Client, len(c.nodes))
	for i, n := range c.nodes {
		direct[i] = goredis.NewClient(&goredis.Options{Addr: n.Addr})
		defer direct[i].Close()
	}
	found := 0
	for i := range 100 {
		name := fmt.Sprintf("%s-%d", client, i)
		slot, err := direct[0].ClusterKeySlot(t.Context(), name).Result()
		if err != nil {
			t.Fatal(err)
		}
		third := 0
		for _, first := range []int64{5461, 10923} {
			if slot >= first {
				third++
			}
		}
		has, err := direct[(third+c.turns)%len(c.nodes)].BFExists(t.Context(), name, "second").Result()
		if err != nil || !has {
			t.Errorf("%s in slot %d: %v, %v", name, slot, has, err)
		}
		found++
	}
	if found != 100 {
		t.Errorf("%d filters", found)
	}
}

// Clients of Redis Cluster work unmodified with three nodes: each adds to and queries 100 filters, before and after all slots have
// moved to other nodes.
func TestClusterClients(t *testing.T) {
	c := startCluster(t)
	addrs := []string{c.nodes[0].Addr, c.nodes[1].Addr, c.nodes[2].Addr}
	ctx := t.Context()
	run := func(client string, add, has func(name, key string) (bool, error)) {
		t.Helper()
		for _, key := range []string{"first", "second"} {
			for i := range 100 {
				name := fmt.Sprintf("%s-%d", client, i)
				if fresh, err := add(name, key); err != nil || !fresh {
					t.Fatalf("add %s to %s: %v, %v", key, name, fresh, err)
				}
				if there, err := has(name, key); err != nil || !there {
					t.Fatalf("query %s in %s: %v, %v", key, name, there, err)
				}
			}
			if key == "first" {
				c.turn(t)
			}
		}
		c.check(t, client)
	}
	t.Run("go-redis", func(t *testing.T) {
		r := goredis.NewClusterClient(&goredis.ClusterOptions{Addrs: addrs})
		defer r.Close()
		run("go-redis", func(name, key string) (bool, error) { return r.BFAdd(ctx, name, key).Result() },
			func(name, key string) (bool, error) { return r.BFExists(ctx, name, key).Result() })
		if cmds, err := r.Pipelined(ctx, func(p goredis.Pipeliner) error {
			for i := range 100 {
				p.BFExists(ctx, fmt.Sprintf("go-redis-%d", i), "second")
			}
			return nil
		}); err != nil || len(cmds) != 100 {
			t.Errorf("a pipeline over all nodes: %d, %v", len(cmds), err)
		}
	})
	t.Run("rueidis", func(t *testing.T) {
		r, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: addrs[:1], DisableCache: true, ShuffleInit: true})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		run("rueidis", func(name, key string) (bool, error) {
			return r.Do(ctx, r.B().BfAdd().Key(name).Item(key).Build()).AsBool()
		},
			func(name, key string) (bool, error) {
				return r.Do(ctx, r.B().BfExists().Key(name).Item(key).Build()).AsBool()
			})
	})
	t.Run("redis-cli -c", func(t *testing.T) {
		host, port, _ := net.SplitHostPort(addrs[0])
		cli := find(t, "redis-cli")
		call := func(command, name, key string) (bool, error) {
			out, err := exec.CommandContext(ctx, cli, "-c", "-h", host, "-p", port, command, name, key).CombinedOutput()
			return strings.TrimSpace(string(out)) == "1", err
		}
		run("redis-cli", func(name, key string) (bool, error) { return call("BF.ADD", name, key) },
			func(name, key string) (bool, error) { return call("BF.EXISTS", name, key) })
	})
	host, port, _ := net.SplitHostPort(addrs[0])
	t.Run("redis-py", func(t *testing.T) { c.halves(t, "redis-py", python(t), "testdata/cluster.py", host, port) })
	t.Run("npm", func(t *testing.T) {
		dir := nodeClients(t)
		for _, client := range []string{"node-redis", "ioredis", "iovalkey"} {
			t.Run(client, func(t *testing.T) {
				c.halves(t, client, find(t, "node"), filepath.Join(dir, "cluster.js"), client, host, port)
			})
		}
	})
}

// halves runs a program that prints "half" and waits for a line, and gives all slots to other nodes in between.
func (c *cluster) halves(t *testing.T, client, program string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	var failure strings.Builder
	cmd.Stderr = &failure
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err == nil && line == "half\n" {
		c.turn(t)
		_, err = io.WriteString(in, "on\n")
	}
	if ended := cmd.Wait(); err != nil || ended != nil {
		t.Fatalf("%q, %v, %v\n%s", line, err, ended, failure.String())
	}
	c.check(t, client)
}

// redis-cli finds nothing to complain about, calls all nodes, and redis-benchmark runs on all of them, also while slots move.
func TestClusterTools(t *testing.T) {
	c := startCluster(t)
	cli, benchmark := find(t, "redis-cli"), find(t, "redis-benchmark")
	host, port, _ := net.SplitHostPort(c.nodes[1].Addr)
	for range 2 {
		out, err := exec.CommandContext(t.Context(), cli, "--cluster", "check", c.nodes[0].Addr).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "[OK] All nodes agree about slots configuration.") ||
			!strings.Contains(string(out), "[OK] All 16384 slots covered.") {
			t.Errorf("redis-cli --cluster check: %v\n%s", err, out)
		}
		out, err = exec.CommandContext(t.Context(), cli, "--cluster", "call", c.nodes[0].Addr, "PING").CombinedOutput()
		if err != nil || strings.Count(string(out), "PONG") != 3 {
			t.Errorf("redis-cli --cluster call: %v\n%s", err, out)
		}
		run := exec.CommandContext(t.Context(), benchmark, "--cluster", "-h", host, "-p", port, "-n", "30000", "-c", "30", "-r", "1000", "--csv",
			"BF.ADD", "{tag}benchmark", "__rand_int__")
		ended := make(chan error, 1)
		var text []byte
		go func() {
			var err error
			text, err = run.CombinedOutput()
			ended <- err
		}()
		direct := goredis.NewClient(&goredis.Options{Addr: c.nodes[0].Addr})
		await.True(t, "the benchmark has begun", func() bool {
			n, err := direct.DBSize(context.WithoutCancel(t.Context())).Result()
			return err == nil && n > 0
		})
		direct.Close()
		c.turn(t)
		if err := <-ended; err != nil || !strings.Contains(string(text), `"BF.ADD {tag}benchmark __rand_int__"`) {
			t.Errorf("redis-benchmark --cluster: %v\n%s", err, text)
		}
	}
}

package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/cmd/cloud/s3test"
	"github.com/umbel-filters/umbel/internal/await"
	"github.com/umbel-filters/umbel/internal/freeport"
)

// asProgram is the environment variable that makes the test binary the program. Variables named UMBEL_… are settings.
const asProgram = "TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// node is a member of a group in a process of its own.
type node struct {
	resp    string
	command *exec.Cmd
}

// start starts a node that keeps the log of its group at a URL.
func start(t *testing.T, data, resp, url string) *node {
	t.Helper()
	n := &node{resp, exec.Command(os.Args[0], "serve", "--data", data, "--log", url, "--resp", resp, "--http", "off", "--log-level", "error")}
	n.command.Env = append(os.Environ(), asProgram+"=1")
	n.command.Stderr = os.Stderr
	if err := n.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.kill)
	return n
}

func (n *node) kill() {
	n.command.Process.Kill()
	n.command.Wait()
}

// call sends a command and returns the first line of the reply, "" if there is none.
func (n *node) call(words ...string) string {
	c, err := net.DialTimeout("tcp", n.resp, time.Second)
	if err != nil {
		return ""
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(10 * time.Second))
	fmt.Fprintf(c, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(c, "$%d\r\n%s\r\n", len(w), w)
	}
	line, _ := bufio.NewReader(c).ReadString('\n')
	return strings.TrimSpace(line)
}

// Three nodes keep their log in a bucket that needs 20 ms for a request and fails one of a hundred. The leader is killed. What clients
// added before and after that is at the other nodes, and at the one that was killed when it is back.
func TestGroupInBucket(t *testing.T) {
	url := s3test.Start(t, 20*time.Millisecond, 0.01)
	nodes := make([]*node, 3)
	begin := func(i int, data string) {
		addr, err := freeport.Addr()
		if err != nil {
			t.Fatal(err)
		}
		nodes[i] = start(t, data, addr, url)
	}
	d := t.TempDir()
	data := func(i int) string { return filepath.Join(d, fmt.Sprint(i)) }
	for i := range nodes {
		begin(i, data(i))
	}
	keys, leader := 0, 0
	// add adds keys at the node that takes them.
	add := func(n int) {
		t.Helper()
		for end := keys + n; keys < end; keys++ {
			await.True(t, "a node takes a key", func() bool {
				r := nodes[leader].call("BF.ADD", "users", fmt.Sprint(keys))
				if r == ":1" || r == ":0" {
					return true
				}
				leader = (leader + 1) % len(nodes)
				return false
			})
		}
	}
	add(50)
	killed := leader
	nodes[killed].kill()
	began := time.Now()
	add(1)
	t.Logf("a key was added %v after the leader was killed", time.Since(began))
	add(50)
	begin(killed, data(killed))
	for i, n := range nodes {
		for k := range keys {
			await.True(t, fmt.Sprintf("node %d has key %d", i, k), func() bool { return n.call("BF.EXISTS", "users", fmt.Sprint(k)) == ":1" })
		}
	}
	if r := nodes[killed].call("BF.EXISTS", "users", "never"); r != ":0" {
		t.Errorf("a key that was never added: %s", r)
	}
}

package faults

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/umbel-filters/umbel/research/interop/internal/proc"
)

var (
	kills   = flag.Int("kills", 6, "how often a node under load is killed, at each level of durability")
	cuts    = flag.Int("cuts", 2, "how often the power of a disk is cut, at each level of durability")
	flips   = flag.Int("flips", 2, "how many bits of each file of a store are flipped")
	garbage = flag.Duration("garbage", 2*time.Second, "how long clients send garbage")
	patient = flag.Bool("patient", false, "wait until the node disconnects clients that never read")
	idle    = flag.Int("idle", 2000, "number of idle connections")
)

// umbel is the path of the program, which TestMain builds.
var umbel string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	flag.Parse()
	dir, err := os.MkdirTemp("", "umbel-faults-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	if umbel, err = proc.Build(ctx, dir, "umbel"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// start starts a node, which is killed at the end of the test.
func start(t *testing.T, dir string, flags ...string) *proc.Proc {
	t.Helper()
	p, err := tryStart(t, dir, flags...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func tryStart(t *testing.T, dir string, flags ...string) (*proc.Proc, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	p, err := proc.Node(ctx, umbel, dir, flags...)
	if err == nil {
		t.Cleanup(p.Kill)
	}
	return p, err
}

// dial connects to a node. The connection is closed at the end of the test.
func dial(t *testing.T, p *proc.Proc) redis.Conn {
	t.Helper()
	c, err := redis.Dial("tcp", p.Addr, redis.DialReadTimeout(time.Minute), redis.DialWriteTimeout(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// do sends a command and fails the test on an error.
func do(t *testing.T, c redis.Conn, command string, args ...any) any {
	t.Helper()
	reply, err := c.Do(command, args...)
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	return reply
}

// resident returns the resident memory of a process in bytes, from /proc of Linux.
func resident(pid int) (int64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, err
	}
	pages, err := strconv.ParseInt(string(bytes.Fields(b)[1]), 10, 64)
	return pages * int64(os.Getpagesize()), err
}

// TestSecondProcess tests that a second node does not start in the directory of another.
func TestSecondProcess(t *testing.T) {
	dir := t.TempDir()
	first := start(t, dir)
	second, err := tryStart(t, dir)
	if err == nil {
		second.Kill()
		t.Fatal("two nodes use the same directory")
	}
	if !strings.Contains(err.Error(), "in use") {
		t.Errorf("the second node failed with %q, want that the directory is in use", err)
	}
	do(t, dial(t, first), "BF.ADD", "k", "a")
}

package faults

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/umbel-filters/umbel/research/interop/internal/proc"
)

var (
	kills   = flag.Int("kills", 6, "how often a node under load is killed, under each promise")
	cuts    = flag.Int("cuts", 2, "how often the power of a node's disk is cut, under each promise")
	flips   = flag.Int("flips", 2, "how many bits of each file of a store are flipped")
	garbage = flag.Duration("garbage", 2*time.Second, "how long a node is sent garbage")
	patient = flag.Bool("patient", false, "wait until the node cuts clients that never read")
	idle    = flag.Int("idle", 2000, "connections that say nothing")
)

// umbel is the program, built once.
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
	if umbel, err = proc.Build(ctx, dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// start starts a node that the test's end kills.
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

// dial connects to a node; the test's end closes the connection.
func dial(t *testing.T, p *proc.Proc) redis.Conn {
	t.Helper()
	c, err := redis.Dial("tcp", p.Addr, redis.DialReadTimeout(time.Minute), redis.DialWriteTimeout(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// do sends a command that must not fail.
func do(t *testing.T, c redis.Conn, command string, args ...any) any {
	t.Helper()
	answer, err := c.Do(command, args...)
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	return answer
}

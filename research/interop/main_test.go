package interop

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/research/interop/internal/proc"
)

var (
	umbel, umbelCache string // paths of programs
	node              string // RESP address of a node with the default configuration
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "umbel-interop-")
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
	if umbelCache, err = proc.Build(ctx, dir, "umbel-cache"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	p, err := proc.Node(ctx, umbel, dir+"/data")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	node = p.Addr
	code := m.Run()
	end, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := p.Stop(end); err != nil {
		fmt.Fprintln(os.Stderr, "the node:", err)
		code = 1
	}
	return code
}

// find returns the path of a program. It skips the test if the program is not on PATH.
func find(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skipf("%s is not on PATH", program)
	}
	return path
}

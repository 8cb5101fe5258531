package interop

import (
	"net"
	"os"
	"os/exec"
	"testing"
)

// TestNodeClients runs the two clients of JavaScript, as npm installs them.
func TestNodeClients(t *testing.T) {
	program := find(t, "node")
	npm := find(t, "npm")
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/node")); err != nil {
		t.Fatal(err)
	}
	install := exec.Command(npm, "ci", "--no-audit", "--no-fund")
	install.Dir = dir
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("npm ci: %v\n%s", err, out)
	}
	host, port, err := net.SplitHostPort(node)
	if err != nil {
		t.Fatal(err)
	}
	for _, client := range []string{"node-redis-2", "node-redis-3", "ioredis"} {
		t.Run(client, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), program, "clients.js", client, host, port)
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

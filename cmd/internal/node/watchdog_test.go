package node

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
)

// The watchdog's query reaches a filter, also on a node with users, and fails while commands hang.
func TestProbe(t *testing.T) {
	c := testConfig(t)
	c.Users = filepath.Join(t.TempDir(), "users.yaml")
	if err := os.WriteFile(c.Users, []byte("users: [{name: a}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	n := started(t, c)
	if _, _, err := n.engine.Create("f", "bloom", umbel.Goal{Keys: 100, FPRate: 0.01}, nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := probe(ctx, n.resp, "f"); err != nil {
		t.Error(err)
	}
	if got := n.engine.Get([]byte("f")).Counts().Queried; got != 1 {
		t.Errorf("%d keys of the filter were queried, want 1", got)
	}

	release := make(chan struct{})
	stuck := resp.NewServer(resp.Options{Commands: resp.Table{"um.has": {Arity: -3, Run: func(c *resp.Conn, _ [][]byte) {
		<-release
		c.Int(0)
	}}}})
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := probe(short, stuck, "f"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a server that hangs: %v", err)
	}
	close(release)
	if err := stuck.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

package lognats_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/umbel-filters/umbel/cmd/cloud/lognats"
	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog"
	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog/mediumtest"
)

// start runs a server in this process until the test ends, and returns its URL.
func start(t *testing.T) string {
	t.Helper()
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: -1, StoreDir: t.TempDir(), JetStream: true, NoSigs: true, NoLog: true,
		JetStreamMaxMemory: 64 << 20, JetStreamMaxStore: 1 << 30,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the server does not start")
	}
	return s.ClientURL()
}

func TestMedium(t *testing.T) {
	url, streams := start(t), 0
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	mediumtest.Run(t, func(t *testing.T) sharedlog.Medium {
		streams++
		m, err := lognats.New(t.Context(), nc, fmt.Sprintf("GROUP%d", streams), 1)
		if err != nil {
			t.Fatal(err)
		}
		return m
	})
}

package cacheserver

import (
	"context"
	"log/slog"
	"net/url"
	"testing"
	"time"
)

// testConfig is a cache on a free port.
func testConfig(origin *url.URL) Config {
	return Config{
		Listen: "127.0.0.1:0", Origin: origin, Memory: 64 << 20, DiskSize: 1 << 30, Disconnected: time.Minute, Name: "umbel",
		TunnelPorts: []string{"443"}, Log: slog.New(slog.DiscardHandler),
	}
}

// start starts a cache that ends with the test.
func start(t testing.TB, c Config) *Server {
	t.Helper()
	s, err := Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Error(err)
		}
	})
	return s
}

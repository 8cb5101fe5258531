package node

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/wire"
)

// SIGHUP puts new limits in force, for clients that are there as well.
func TestReloadLimits(t *testing.T) { overBoth(t, checkReloadLimits) }

func checkReloadLimits(t *testing.T, loops int) {
	c := testConfig(t)
	c.loops = loops
	n := started(t, c)
	r := dial(t, n, nil)
	r.Want("PING", "+PONG")
	c.MaxClients, c.IdleTimeout, c.MaxBulk = 1, time.Hour, 1<<10
	if err := n.Reload(c); err != nil {
		t.Fatal(err)
	}
	r.Want("CONFIG GET maxclients", `*2[$10:"maxclients", $1:"1"]`)
	r.Want("CONFIG GET idle-timeout", `*2[$12:"idle-timeout", $6:"1h0m0s"]`)
	r.Want("CONFIG GET proto-max-bulk-len", `*2[$18:"proto-max-bulk-len", $4:"1024"]`)
	if got := dial(t, n, nil).Reply(); got != "-ERR max number of clients reached" {
		t.Errorf("a second client: %q", got)
	}
	// A client of HTTP may open a second connection before the first one is free.
	c.MaxClients, c.HTTPRate = 10, 0.001
	if err := n.Reload(c); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{http.StatusOK, http.StatusTooManyRequests} {
		if status, _ := get(t, n, "/v1/filters"); status != want {
			t.Errorf("request %d: %d, want %d", i, status, want)
		}
	}
}

// A higher memory limit admits larger containers at once, over HTTP and RESP.
func TestRaisedMemoryLimit(t *testing.T) {
	c := testConfig(t)
	c.MaxMemory = Memory{Bytes: 1 << 20}
	n := started(t, c)
	f, err := bloom.NewGoal(umbel.Goal{Bytes: 4 << 20, FPRate: 0.01})
	if err != nil {
		t.Fatal(err)
	}
	container, err := wire.Append(nil, f.State())
	if err != nil {
		t.Fatal(err)
	}
	put := func() int {
		r, err := http.NewRequest("PUT", "http://"+n.HTTP().String()+"/v1/filters/f", bytes.NewReader(container))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/vnd.umbel.container")
		answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		return answer.StatusCode
	}
	imported := func() string {
		c := dial(t, n, nil)
		return c.Do("UM.IMPORT", "g", string(container))[:1]
	}
	if status, reply := put(), imported(); status < 400 || reply[0] != '-' {
		t.Errorf("above the limit: %d, %q", status, reply)
	}
	dial(t, n, nil).Want("CONFIG SET maxmemory 64mb", "+OK")
	if status, reply := put(), imported(); status != http.StatusCreated || reply[0] == '-' {
		t.Errorf("below the raised limit: %d, %q", status, reply)
	}
}

// What max-disk leaves bounds the copies of filters that are being sent.
func TestLimitOfCopies(t *testing.T) {
	c := testConfig(t)
	n := started(t, c)
	if err := n.copies.Take(int64(2 * n.limit())); err != nil {
		t.Errorf("without max-disk: %v", err)
	}
	if err := n.copies.Take(1); err == nil {
		t.Error("copies may take more than twice the memory limit")
	}
	n.copies.Give(int64(2 * n.limit()))
	used := n.store.Status().LogBytes
	c.MaxDisk = quantity.Size(used) + 1<<20
	if err := n.Reload(c); err != nil {
		t.Fatal(err)
	}
	n.limitFiles()
	// The log may have been trimmed since it was measured.
	if err := n.copies.Take(int64(c.MaxDisk) + 1); err == nil {
		t.Error("copies may take more than max-disk leaves")
	}
	dial(t, n, nil).Want("CONFIG GET max-disk", `*2[$8:"max-disk", `+fmt.Sprintf("$%d:%q]", len(c.MaxDisk.String()), c.MaxDisk.String()))
}

// HTTP has as many places for connections as RESP, and one that ends is free again.
func TestHTTPConnections(t *testing.T) {
	c := testConfig(t)
	c.MaxClients = 2
	n := started(t, c)
	open := func() net.Conn {
		conn, err := net.Dial("tcp", n.HTTP().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		_ = conn.SetDeadline(time.Now().Add(time.Minute))
		return conn
	}
	served := func(conn net.Conn) bool {
		_, _ = conn.Write([]byte("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"))
		got, _ := conn.Read(make([]byte, 1<<10))
		return got > 0
	}
	a, b := open(), open()
	if !served(a) || !served(b) {
		t.Fatal("the first two aren't served")
	}
	if served(open()) {
		t.Error("a third is served")
	}
	a.Close()
	for end := time.Now().Add(time.Minute); !served(open()); {
		if time.Now().After(end) {
			t.Fatal("the place that one left isn't free")
		}
	}
}

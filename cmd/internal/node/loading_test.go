package node

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/durable/disk/disktest"
	"github.com/umbel-filters/umbel/cmd/internal/durable/wal"
	"github.com/umbel-filters/umbel/cmd/internal/testing/resptest"
	"github.com/umbel-filters/umbel/internal/freeport"
)

// freeAddress returns an address of this machine that is free.
func freeAddress(t *testing.T) string {
	t.Helper()
	addr, err := freeport.Addr()
	if err != nil {
		t.Fatal(err)
	}
	return addr
}

// While the filters are restored, clients are answered that they are, and that the process is alive.
func TestLoading(t *testing.T) {
	c := testConfig(t)
	c.RESP, c.HTTP = freeAddress(t), freeAddress(t)
	n, d := startedFaulty(t, c)
	dial(t, n, nil).Want("BF.ADD f a", ":1")
	stopped(t, n)

	reading, goOn := make(chan struct{}), make(chan struct{})
	type result struct {
		node *Node
		err  error
	}
	done := make(chan result)
	go func() {
		n, err := start(t.Context(), c, slog.New(slog.DiscardHandler), nil, func(dir string, o wal.Options) (*wal.Log, error) {
			l, err := d.open(dir, o)
			var once sync.Once
			d.set(func(op disktest.Op, _ string) error { // a recovery that takes long
				if op == disktest.Open {
					once.Do(func() { close(reading); <-goOn })
				}
				return nil
			})
			return l, err
		})
		done <- result{n, err}
	}()
	select {
	case <-reading:
	case r := <-done:
		t.Fatalf("the node has started: %v", r.err)
	}
	r := resptest.Dial(t, c.RESP)
	for command, reply := range map[string]string{
		"PING": "-LOADING", "BF.EXISTS f a": "-LOADING", "NOSUCH": "-LOADING", "WATCH f": "-LOADING", "INFO": "$", "HELLO 2": "*",
	} {
		r.Want(command, reply)
	}
	if got := infoFields(t, r)["loading"]; got != "1" {
		t.Errorf("loading is %q, want 1", got)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 503, "/writable": 503, "/v1/filters/f": 503} {
		answer, err := client.Get(fmt.Sprintf("http://%s%s", c.HTTP, path))
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, answer.StatusCode, want)
		}
	}
	// A request that has arrived when the recovery ends is answered.
	late, err := net.Dial("tcp", c.HTTP)
	if err != nil {
		t.Fatal(err)
	}
	defer late.Close()
	if _, err := io.WriteString(late, "GET /readyz HTTP/1.1\r\nHost: "+c.HTTP+"\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	close(goOn)
	ready := <-done
	if ready.err != nil {
		t.Fatal(ready.err)
	}
	defer stopped(t, ready.node)
	if r, err := http.ReadResponse(bufio.NewReader(late), nil); err != nil {
		t.Errorf("a request at the end of the recovery: %v", err)
	} else {
		r.Body.Close()
	}
	again := resptest.Dial(t, c.RESP)
	again.Want("BF.EXISTS f a", ":1")
	if got := infoFields(t, again)["loading"]; got != "0" {
		t.Errorf("loading is %q, want 0", got)
	}
	if status, body := get(t, ready.node, "/readyz"); status != http.StatusOK || !strings.Contains(body, "ready") {
		t.Errorf("/readyz: %d %s", status, body)
	}
}

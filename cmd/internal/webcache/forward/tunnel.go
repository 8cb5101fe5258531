package forward

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Tunnels serves CONNECT (RFC 9110, section 9.3.6). Close must be called.
type Tunnels struct {
	dial  Dial
	ports []string

	mu    sync.Mutex
	open  map[net.Conn]struct{}
	ended bool
}

// NewTunnels returns tunnels to these ports only, which clients could otherwise use to reach, for example, mail servers.
func NewTunnels(dial Dial, ports []string) *Tunnels {
	return &Tunnels{dial: dial, ports: ports, open: map[net.Conn]struct{}{}}
}

// idle is the time after which a tunnel without bytes in either direction is closed.
const idle = 10 * time.Minute

// ServeHTTP connects to the destination and copies bytes until both sides have ended.
func (t *Tunnels) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		http.Error(w, "the destination needs a host and a port", http.StatusBadRequest)
		return
	}
	if !slices.Contains(t.ports, port) {
		http.Error(w, "tunnels to port "+port+" are not allowed", http.StatusForbidden)
		return
	}
	server, err := t.dial(r.Context(), "tcp", r.Host)
	if err != nil {
		status := http.StatusBadGateway
		if errors.Is(err, errRefused) {
			status = http.StatusForbidden
		}
		http.Error(w, "the destination cannot be reached", status)
		return
	}
	defer server.Close()
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, "this connection has no tunnels", http.StatusInternalServerError)
		return
	}
	defer client.Close()
	if !t.add(client, server) {
		return
	}
	defer t.remove(client, server)
	if _, err := io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	join(client, buffered.Reader, server)
}

// join copies bytes between two connections until both directions have ended.
func join(client net.Conn, from *bufio.Reader, server net.Conn) {
	var copies sync.WaitGroup
	copies.Go(func() { carry(server, from, client) })
	copies.Go(func() { carry(client, server, server) })
	copies.Wait()
}

// carry copies one direction; source is the connection that from reads. Bytes keep both directions open.
func carry(to net.Conn, from io.Reader, source net.Conn) {
	buffer := make([]byte, 32<<10)
	for {
		_ = source.SetReadDeadline(time.Now().Add(idle))
		n, err := from.Read(buffer)
		if n > 0 {
			_ = to.SetDeadline(time.Now().Add(idle))
			if _, err := to.Write(buffer[:n]); err != nil {
				_ = source.Close()
				return
			}
		}
		if err != nil {
			// The other direction may go on: half of a connection can end.
			if half, ok := to.(interface{ CloseWrite() error }); ok && err == io.EOF {
				_ = half.CloseWrite()
			} else {
				_ = to.Close()
			}
			return
		}
	}
}

func (t *Tunnels) add(connections ...net.Conn) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range connections {
		t.open[c] = struct{}{}
	}
	return !t.ended
}

func (t *Tunnels) remove(connections ...net.Conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range connections {
		delete(t.open, c)
	}
}

// Shutdown waits until the tunnels have ended, and closes those that are left when the context is done. No tunnel
// begins afterwards.
func (t *Tunnels) Shutdown(ctx context.Context) {
	t.mu.Lock()
	t.ended = true
	t.mu.Unlock()
	poll := time.NewTicker(50 * time.Millisecond)
	defer poll.Stop()
	for {
		t.mu.Lock()
		left := len(t.open)
		if ctx.Err() != nil {
			for c := range t.open {
				_ = c.Close()
			}
		}
		t.mu.Unlock()
		if left == 0 {
			return
		}
		<-poll.C
	}
}

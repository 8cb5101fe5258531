package forward

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestCheck(t *testing.T) {
	for _, address := range []string{
		"127.0.0.1:80", "127.9.9.9:80", "[::1]:80", "[::ffff:127.0.0.1]:80", "0.0.0.0:80", "[::]:80", "169.254.169.254:80", "[fe80::1%25eth0]:80", "224.0.0.1:80", "name:80", "",
	} {
		if err := check(address); !errors.Is(err, errRefused) {
			t.Errorf("%q: %v, want %v", address, err, errRefused)
		}
	}
	for _, address := range []string{"192.0.2.1:80", "10.1.2.3:80", "[2001:db8::1]:443"} {
		if err := check(address); err != nil {
			t.Errorf("%q: %v", address, err)
		}
	}
}

// The check is of the address, also if a name leads to it.
func TestDialByName(t *testing.T) {
	if _, err := NewDial(false)(t.Context(), "tcp", "localhost:1"); !errors.Is(err, errRefused) {
		t.Errorf("got %v, want %v", err, errRefused)
	}
}

// tunnel sends CONNECT and returns the connection and the status.
func tunnel(t *testing.T, proxy, to string) (net.Conn, *bufio.Reader, int) {
	t.Helper()
	c, err := net.Dial("tcp", proxy)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if _, err := io.WriteString(c, "CONNECT "+to+" HTTP/1.1\r\nHost: "+to+"\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(c)
	r, err := http.ReadResponse(in, &http.Request{Method: http.MethodConnect})
	if err != nil {
		t.Fatal(err)
	}
	return c, in, r.StatusCode
}

// echo serves one connection: it sends everything back, and ends when the client ends its half.
func echo(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		_, _ = io.Copy(c, c)
	}()
	return l
}

func TestTunnel(t *testing.T) {
	l := echo(t)
	_, port, _ := net.SplitHostPort(l.Addr().String())
	tunnels := NewTunnels(NewDial(true), []string{port})
	proxy := httptest.NewServer(tunnels)
	defer proxy.Close()
	address := proxy.Listener.Addr().String()
	c, in, status := tunnel(t, address, l.Addr().String())
	if status != http.StatusOK {
		t.Fatalf("status %d, want 200", status)
	}
	const text = "through the tunnel"
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(in); string(b) != text || err != nil {
		t.Errorf("got %q, %v, want %q", b, err, text)
	}
	for to, want := range map[string]int{"127.0.0.1:25": http.StatusForbidden, "127.0.0.1": http.StatusBadRequest} {
		if _, _, status := tunnel(t, address, to); status != want {
			t.Errorf("CONNECT %s: status %d, want %d", to, status, want)
		}
	}
	refusing := httptest.NewServer(NewTunnels(NewDial(false), []string{port}))
	defer refusing.Close()
	if _, _, status := tunnel(t, refusing.Listener.Addr().String(), l.Addr().String()); status != http.StatusForbidden {
		t.Errorf("CONNECT to this machine: status %d, want 403", status)
	}
}

// Shutdown closes tunnels that do not end.
func TestShutdown(t *testing.T) {
	l := echo(t)
	_, port, _ := net.SplitHostPort(l.Addr().String())
	tunnels := NewTunnels(NewDial(true), []string{port})
	proxy := httptest.NewServer(tunnels)
	defer proxy.Close()
	_, in, status := tunnel(t, proxy.Listener.Addr().String(), l.Addr().String())
	if status != http.StatusOK {
		t.Fatalf("status %d, want 200", status)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	tunnels.Shutdown(ctx)
	if _, err := in.ReadByte(); err == nil || strings.Contains(err.Error(), "timeout") {
		t.Errorf("the tunnel is still open: %v", err)
	}
}

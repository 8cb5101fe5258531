package service

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

var silent = slog.New(slog.DiscardHandler)

// pipes is a listener in memory, for the clock of synctest.
type pipes struct {
	clients chan net.Conn
	ended   context.Context
	end     context.CancelFunc
}

func newPipes() *pipes {
	p := &pipes{clients: make(chan net.Conn)}
	p.ended, p.end = context.WithCancel(context.Background())
	return p
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.clients:
		return c, nil
	case <-p.ended.Done():
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.end(); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// connect returns a connection on which a text was sent.
func (p *pipes) connect(t *testing.T, text string) net.Conn {
	t.Helper()
	client, server := net.Pipe()
	t.Cleanup(func() { client.Close() })
	p.clients <- server
	if _, err := io.WriteString(client, text); err != nil {
		t.Fatal(err)
	}
	return client
}

// A client that sends its header slowly, sends no further request, or takes no bytes of an answer is disconnected when its time is over.
func TestSlowClients(t *testing.T) {
	const request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
	for name, c := range map[string]struct {
		sent  string
		limit time.Duration
		take  func(net.Conn) error
	}{
		"header": {"GET / HTTP/1.1\r\n", headerTime, func(c net.Conn) error { _, err := io.ReadAll(c); return err }},
		"idle":   {request, idleTime, func(c net.Conn) error { _, err := io.ReadAll(c); return err }},
		"answer": {request, stall, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newPipes()
				answered := make(chan error, 1)
				g := NewGroup()
				g.Serve("test", NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					_, err := w.Write(make([]byte, 1<<20))
					answered <- err
				}), silent), Stalling(l))
				begun := time.Now()
				conn := l.connect(t, c.sent)
				if c.take != nil {
					_ = c.take(conn) // until it is disconnected
				} else if err := <-answered; err == nil {
					t.Error("the answer was sent to a client that took nothing")
				}
				if took := time.Since(begun); took != c.limit {
					t.Errorf("disconnected after %v, want %v", took, c.limit)
				}
				if err := g.Shutdown(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// A client that takes an answer slowly is served to its end.
func TestSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, g := newPipes(), NewGroup()
		g.Serve("test", NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, strings.Repeat("x", 100<<10))
		}), silent), Stalling(l))
		conn := l.connect(t, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		begun, n, b := time.Now(), 0, make([]byte, 4<<10)
		for {
			time.Sleep(stall / 2)
			k, err := conn.Read(b)
			if n += k; err != nil {
				break
			}
		}
		if n < 100<<10 || time.Since(begun) < 2*stall {
			t.Errorf("%d bytes after %v", n, time.Since(begun))
		}
		if err := g.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// At its end a group answers the requests that have begun, and disconnects clients whose answers take longer than the drain.
func TestDrain(t *testing.T) {
	for _, takes := range []time.Duration{Drain / 2, 2 * Drain} {
		synctest.Test(t, func(t *testing.T) {
			l, g := newPipes(), NewGroup()
			g.Serve("test", NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				select {
				case <-time.After(takes):
					_, _ = io.WriteString(w, "answered")
				case <-r.Context().Done():
				}
			}), silent), l)
			conn := l.connect(t, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
			got := make(chan string, 1)
			go func() {
				b, _ := io.ReadAll(conn)
				got <- string(b)
			}()
			synctest.Wait()
			ctx, stop := context.WithCancel(t.Context())
			stop()
			begun, worked := time.Now(), false
			if err := g.Run(ctx, Drain, func(ctx context.Context) error { worked = true; <-ctx.Done(); return context.Cause(ctx) }); err != nil {
				t.Error(err)
			}
			answer := <-got
			if inTime := takes < Drain; strings.HasSuffix(answer, "answered") != inTime {
				t.Errorf("an answer after %v of %v: %q", takes, Drain, answer)
			}
			// Shutdown polls, so it may end a little later than the last answer.
			if took := time.Since(begun); took < min(takes, Drain) || took > Drain || !worked {
				t.Errorf("ended after %v, and work was called: %v", took, worked)
			}
			synctest.Wait()
		})
	}
}

// A listener that fails ends the work, and its error is that of the program; so does work that fails.
func TestFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, g := newPipes(), NewGroup()
		g.Serve("--listen", NewServer(http.NotFoundHandler(), silent), l)
		time.AfterFunc(time.Minute, l.end)
		err := g.Run(t.Context(), Drain, func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
		if !errors.Is(err, net.ErrClosed) || errors.Is(err, context.Canceled) {
			t.Errorf("the listener failed: %v", err)
		}
	})
	fault := errors.New("fault")
	g := NewGroup()
	if err := g.Run(t.Context(), Drain, func(context.Context) error { return fault }); err != fault && !errors.Is(err, fault) {
		t.Errorf("work failed: %v", err)
	}
	g.Fail(nil)
	g.Fail(fault)
	g.Fail(errors.New("another"))
	if err := <-g.Failed(); err != fault {
		t.Errorf("the group failed: %v", err)
	}
}

// The error of an address in use has its class, and states the flag.
func TestListen(t *testing.T) {
	l, err := Listen("listen", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if !IsLoopback(l.Addr()) || IsLoopback(&net.TCPAddr{IP: net.IPv4(192, 0, 2, 1)}) || IsLoopback(&net.TCPAddr{}) {
		t.Error("IsLoopback is wrong")
	}
	if _, err := Listen("listen", l.Addr().String()); !errors.Is(err, syscall.EADDRINUSE) || !strings.Contains(err.Error(), "--listen") {
		t.Errorf("an address in use: %v", err)
	}
	if _, err := Listen("listen", "192.0.2.1:80"); err == nil {
		t.Error("an address of another machine is accepted")
	}
	for _, address := range []string{"8080", "localhost", ""} {
		if CheckAddress(address) == nil {
			t.Errorf("%q is accepted", address)
		}
	}
	for _, address := range []string{":80", "127.0.0.1:8080", "[::1]:80"} {
		if err := CheckAddress(address); err != nil {
			t.Error(err)
		}
	}
}

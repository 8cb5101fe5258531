// Package proc runs programs for tests and measurements: a node built from this checkout, and
// others found on PATH. All listen on loopback, and are ended by their process ID.
package proc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// Proc is a program that runs.
type Proc struct {
	Addr   string // where it speaks RESP
	HTTP   string // where a node speaks HTTP
	cmd    *exec.Cmd
	output *tail
	ended  chan struct{}
	err    error
}

// Start runs a program until it answers PING at addr. Its output is kept, the last of it, for
// messages about what went wrong.
func Start(ctx context.Context, addr, path string, args ...string) (*Proc, error) {
	p := &Proc{Addr: addr, cmd: exec.Command(path, args...), output: &tail{}, ended: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = p.output, p.output
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	if err := p.ready(ctx); err != nil {
		p.Kill()
		return nil, fmt.Errorf("%s: %w\n%s", filepath.Base(path), err, p.output)
	}
	return p, nil
}

// ready returns when the program answers PING.
func (p *Proc) ready(ctx context.Context) error {
	for {
		if pings(p.Addr) {
			return nil
		}
		select {
		case <-p.ended:
			return fmt.Errorf("ended before it answered: %w", cmpErr(p.err))
		case <-ctx.Done():
			return fmt.Errorf("doesn't answer at %s: %w", p.Addr, ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func cmpErr(err error) error {
	if err == nil {
		return errors.New("exit status 0")
	}
	return err
}

func pings(addr string) bool {
	c, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return false
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := c.Write([]byte("PING\r\n")); err != nil {
		return false
	}
	answer := make([]byte, 7)
	n, _ := c.Read(answer)
	return bytes.HasPrefix(answer[:n], []byte("+PONG"))
}

// PID returns the program's process ID.
func (p *Proc) PID() int { return p.cmd.Process.Pid }

// Kill ends the program at once, as a power cut would end it, and waits until it is gone.
func (p *Proc) Kill() {
	p.cmd.Process.Kill()
	<-p.ended
}

// Signal sends a signal.
func (p *Proc) Signal(s os.Signal) error { return p.cmd.Process.Signal(s) }

// Stop asks the program to end, and waits for it; within the context's time, or kills it and
// says so.
func (p *Proc) Stop(ctx context.Context) error {
	p.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
		return p.err
	case <-ctx.Done():
		p.Kill()
		return fmt.Errorf("didn't end in time\n%s", p.output)
	}
}

// Ended is closed when the program has ended.
func (p *Proc) Ended() <-chan struct{} { return p.ended }

// Output returns the last of what the program printed.
func (p *Proc) Output() string { return p.output.String() }

// given are the ports that FreeAddr returned.
var given sync.Map

// FreeAddr returns an address of loopback at which nobody listens, and that no other call
// returns. Its port isn't of those that the system gives to connections.
func FreeAddr() (string, error) {
	const first, n = 12_000, 20_000
	for range n {
		port := first + rand.IntN(n)
		if _, taken := given.LoadOrStore(port, nil); taken {
			continue
		}
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			return l.Addr().String(), l.Close()
		}
	}
	return "", errors.New("no port is free")
}

// Build builds the program of this checkout into dir and returns its path.
func Build(ctx context.Context, dir string) (string, error) {
	_, file, _, _ := runtime.Caller(0)
	path := filepath.Join(dir, "umbel")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", path, "./umbel")
	cmd.Dir = filepath.Join(filepath.Dir(file), "..", "..", "..", "..", "cmd")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
}

// Node starts the program at path as a node with its data in dir. More flags of umbel serve may
// follow.
func Node(ctx context.Context, path, dir string, flags ...string) (*Proc, error) {
	respAddr, err := FreeAddr()
	if err != nil {
		return nil, err
	}
	return NodeAt(ctx, respAddr, path, dir, flags...)
}

// NodeAt is Node at an address of the caller's choice.
func NodeAt(ctx context.Context, addr, path, dir string, flags ...string) (*Proc, error) {
	httpAddr, err := FreeAddr()
	if err != nil {
		return nil, err
	}
	args := append([]string{"serve", "--resp", addr, "--http", httpAddr, "--data", dir}, flags...)
	p, err := Start(ctx, addr, path, args...)
	if p != nil {
		p.HTTP = httpAddr
	}
	return p, err
}

// Redis starts the redis-server at path, keeping nothing unless flags say otherwise.
func Redis(ctx context.Context, path, dir string, flags ...string) (*Proc, error) {
	addr, err := FreeAddr()
	if err != nil {
		return nil, err
	}
	host, port, _ := net.SplitHostPort(addr)
	args := append([]string{"--bind", host, "--port", port, "--dir", dir, "--save", "", "--daemonize", "no"}, flags...)
	return Start(ctx, addr, path, args...)
}

// tail keeps the last 16 KiB written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

const tailBytes = 16 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	if extra := len(t.buf) - tailBytes; extra > 0 {
		t.buf = append(t.buf[:0], t.buf[extra:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.buf)
}

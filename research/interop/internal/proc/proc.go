// Package proc runs servers for tests and measurements: a node built from this checkout, and
// programs from PATH. All listen on loopback.
package proc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/umbel-filters/umbel/internal/freeport"
)

// Proc is a running program.
type Proc struct {
	Addr   string // RESP address
	HTTP   string // HTTP address of a node
	cmd    *exec.Cmd
	output *tail
	ended  chan struct{}
	err    error
}

// Start starts a program and waits until it answers PING at addr. Proc keeps the end of its
// output for error messages.
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

// ready waits until the program answers PING. It returns an error if the program ends first
// or if ctx is done.
func (p *Proc) ready(ctx context.Context) error {
	for {
		if pings(p.Addr) {
			return nil
		}
		select {
		case <-p.ended:
			return fmt.Errorf("ended before it answered: %w", exitError(p.err))
		case <-ctx.Done():
			return fmt.Errorf("no answer at %s: %w", p.Addr, ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// exitError returns err, or an error with the exit status 0 if err is nil.
func exitError(err error) error {
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
	reply := make([]byte, 7)
	n, _ := c.Read(reply)
	return bytes.HasPrefix(reply[:n], []byte("+PONG"))
}

// PID returns the program's process ID.
func (p *Proc) PID() int { return p.cmd.Process.Pid }

// Kill kills the program and waits until it has ended.
func (p *Proc) Kill() {
	p.cmd.Process.Kill()
	<-p.ended
}

// Signal sends a signal to the program.
func (p *Proc) Signal(s os.Signal) error { return p.cmd.Process.Signal(s) }

// Stop sends SIGTERM and waits until the program has ended. If ctx is done first, Stop kills
// the program and returns an error.
func (p *Proc) Stop(ctx context.Context) error {
	p.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
		return p.err
	case <-ctx.Done():
		p.Kill()
		return fmt.Errorf("did not end in time\n%s", p.output)
	}
}

// Ended is closed when the program has ended.
func (p *Proc) Ended() <-chan struct{} { return p.ended }

// Output returns the end of the output of the program.
func (p *Proc) Output() string { return p.output.String() }

// Build builds a program of this checkout, by its name below cmd, into dir, without cgo as releases are, and returns its path.
func Build(ctx context.Context, dir, name string) (string, error) {
	_, file, _, _ := runtime.Caller(0)
	path := filepath.Join(dir, name)
	cmd := exec.CommandContext(ctx, "go", "build", "-o", path, "./"+name)
	cmd.Dir = filepath.Join(filepath.Dir(file), "..", "..", "..", "..", "cmd")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
}

// Node starts the program at path as a node with its data in dir and additional flags of
// umbel serve.
func Node(ctx context.Context, path, dir string, flags ...string) (*Proc, error) {
	respAddr, err := freeport.Addr()
	if err != nil {
		return nil, err
	}
	return NodeAt(ctx, respAddr, path, dir, flags...)
}

// NodeAt is Node with a given RESP address.
func NodeAt(ctx context.Context, addr, path, dir string, flags ...string) (*Proc, error) {
	httpAddr, err := freeport.Addr()
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

// Redis starts the redis-server at path, without persistence unless flags enable it.
func Redis(ctx context.Context, path, dir string, flags ...string) (*Proc, error) {
	addr, err := freeport.Addr()
	if err != nil {
		return nil, err
	}
	host, port, _ := net.SplitHostPort(addr)
	args := append([]string{"--bind", host, "--port", port, "--dir", dir, "--save", "", "--daemonize", "no"}, flags...)
	return Start(ctx, addr, path, args...)
}

// tail keeps the last 16 KiB that were written to it.
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

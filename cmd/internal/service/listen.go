package service

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/umbel-filters/umbel/internal/sentinel"
)

// CheckAddress returns an error that states what to write if address is not HOST:PORT.
func CheckAddress(address string) error {
	if _, err := strconv.ParseUint(address, 10, 16); err == nil {
		return fmt.Errorf("%s is a port alone; want 127.0.0.1:%[1]s for this machine, or :%[1]s for all networks", address)
	}
	if _, _, err := net.SplitHostPort(address); err != nil {
		return fmt.Errorf("%.80q: want HOST:PORT, such as 127.0.0.1:8080", address)
	}
	return nil
}

// Listen listens on a TCP address. Its error states the flag or setting that has the address, and what to do.
func Listen(flag, address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	switch flag = "--" + strings.TrimPrefix(flag, "--"); {
	case err == nil:
		return l, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, sentinel.Errorf(syscall.EADDRINUSE, "%s: %s is in use by another process; stop it, or choose another address", flag, address)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, sentinel.Errorf(syscall.EADDRNOTAVAIL, "%s %s is not an address of this machine; want one of its addresses, or :PORT for all", flag, address)
	case errors.Is(err, syscall.EACCES):
		return nil, sentinel.Errorf(syscall.EACCES, "%s %s: this user may not listen on the port; choose one above 1023", flag, address)
	}
	return nil, fmt.Errorf("%s: %w", flag, err)
}

// IsLoopback reports whether only processes of this machine can connect to an address.
func IsLoopback(a net.Addr) bool {
	switch a := a.(type) {
	case *net.TCPAddr:
		return a.IP.IsLoopback()
	case *net.UnixAddr:
		return true
	}
	return false
}

// stall is the time for which a client of [Stalling] may take no bytes of an answer.
const stall = 2 * time.Minute

// Stalling returns a listener that disconnects clients that take no bytes of an answer for two minutes. It is for answers
// that may take long because the client is far away: http.Server.WriteTimeout would limit the whole answer. A deadline that a
// handler sets takes precedence.
func Stalling(l net.Listener) net.Listener { return stallingListener{l} }

type stallingListener struct{ net.Listener }

func (l stallingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &stallingConn{Conn: c}, nil
}

type stallingConn struct {
	net.Conn
	handled atomic.Bool // a handler set a deadline
}

func (c *stallingConn) Write(b []byte) (int, error) {
	if !c.handled.Load() {
		if err := c.Conn.SetWriteDeadline(time.Now().Add(stall)); err != nil {
			return 0, err
		}
	}
	return c.Conn.Write(b)
}

func (c *stallingConn) SetWriteDeadline(t time.Time) error {
	c.handled.Store(!t.IsZero())
	return c.Conn.SetWriteDeadline(t)
}

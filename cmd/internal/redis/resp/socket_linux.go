package resp

import (
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// socket is the connection of a TCP or Unix socket in a loop. It is a net.Conn whose Read does not wait
// unless there is a deadline.
type socket struct {
	loop          *loop
	conn          *Conn
	fd            int
	remote, local net.Addr

	input atomic.Bool // there may be input
	hup   atomic.Bool // the client has closed its side
	until time.Time   // deadline of Read, zero: it does not wait

	// guarded by loop.mu
	parked bool          // no shift serves it
	closed bool          // so is the descriptor
	event  chan struct{} // receives after an event; nil until something waited for one

	_ [24]byte // two cache lines: the next connection may be in another loop
}

// newSocket returns a socket with a copy of the descriptor of nc, or nil.
func newSocket(l *loop, nc net.Conn, from syscall.Conn) *socket {
	raw, err := from.SyscallConn()
	if err != nil {
		return nil
	}
	s := &socket{loop: l, fd: -1, remote: nc.RemoteAddr(), local: nc.LocalAddr()}
	_ = raw.Control(func(fd uintptr) { s.fd, _ = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0) })
	if s.fd < 0 {
		return nil
	}
	return s
}

// note notes events. The caller holds loop.mu.
func (s *socket) note(events uint32) {
	s.input.Store(true)
	if events&(unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0 {
		s.hup.Store(true)
	}
	s.signal()
}

// signal ends a wait for an event. The caller holds loop.mu.
func (s *socket) signal() {
	select {
	case s.event <- struct{}{}:
	default:
	}
}

// hasInput reports whether a read may find something. A read that does not fill its buffer took everything
// that had come: what comes later is an event, unless it is the end, which may have come with the input.
func (s *socket) hasInput() bool { return s.input.Load() || s.hup.Load() }

// Read reads what has come. If there is nothing, it returns errNoInput, or waits until the deadline if there is
// one.
func (s *socket) Read(b []byte) (int, error) {
	for {
		for s.hasInput() {
			s.input.Store(false)
			n, err := receiveNow(s.fd, b)
			switch {
			case err == unix.EINTR:
				s.input.Store(true)
			case err == unix.EAGAIN:
				s.hup.Store(false) // the event was of a closed connection with this descriptor
			case err != 0:
				return 0, os.NewSyscallError("recvfrom", err)
			case n == 0:
				return 0, io.EOF
			default:
				if n == len(b) {
					s.input.Store(true)
				}
				return n, nil
			}
		}
		if s.until.IsZero() {
			return 0, errNoInput
		}
		if !s.wait(time.Until(s.until)) {
			return 0, os.ErrDeadlineExceeded
		}
	}
}

// Write writes all of b. Before it waits for the client, the loop continues without the connection.
func (s *socket) Write(b []byte) (n int, err error) {
	for n < len(b) {
		switch took, err := sendNow(s.fd, b[n:]); {
		case err == unix.EAGAIN:
			s.conn.mayWait()
			s.wait(-1)
		case err == unix.EINTR:
		case err != 0:
			return n, os.NewSyscallError("sendto", err)
		default:
			n += took
		}
	}
	return n, nil
}

// wait waits for an event. It reports false if none comes within the time; negative: it has no limit. The first
// call returns at once, because the event may have come before.
func (s *socket) wait(most time.Duration) bool {
	s.loop.mu.Lock()
	first := s.event == nil
	if first {
		s.event = make(chan struct{}, 1)
	}
	s.loop.mu.Unlock()
	if first || most < 0 {
		if !first {
			<-s.event
		}
		return true
	}
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-s.event:
		return true
	case <-timer.C:
		return false
	}
}

// Close disconnects the client. The shift that serves the connection closes the descriptor. It is safe for
// concurrent use.
func (s *socket) Close() error {
	s.loop.mu.Lock()
	defer s.loop.mu.Unlock()
	if s.closed {
		return net.ErrClosed
	}
	s.signal()
	return os.NewSyscallError("shutdown", unix.Shutdown(s.fd, unix.SHUT_RDWR))
}

// CloseWrite ends what the client reads.
func (s *socket) CloseWrite() error {
	return os.NewSyscallError("shutdown", unix.Shutdown(s.fd, unix.SHUT_WR))
}

// wake makes a round of the connection. It is safe for concurrent use.
func (s *socket) wake() {
	s.loop.mu.Lock()
	defer s.loop.mu.Unlock()
	s.loop.again(s)
}

func (s *socket) RemoteAddr() net.Addr { return s.remote }
func (s *socket) LocalAddr() net.Addr  { return s.local }

// SetReadDeadline sets the time until which Read waits; the zero time means that it does not wait.
func (s *socket) SetReadDeadline(t time.Time) error {
	s.until = t
	return nil
}

// SetDeadline and SetWriteDeadline are not supported: see Limits.WriteWait.
func (s *socket) SetDeadline(time.Time) error      { return os.ErrNoDeadline }
func (s *socket) SetWriteDeadline(time.Time) error { return os.ErrNoDeadline }

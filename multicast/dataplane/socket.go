package dataplane

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// socket is a UDP socket with its reader and writer.
type socket struct {
	conn *net.UDPConn
	reader
	writer
	in   *inbox
	out  *outbox
	host bool // whether all its packets are of the node's own host
}

// listen opens a socket with buffers of the given number of bytes, or fewer if the system
// limits them.
func listen(a netip.AddrPort, buffer int) (*net.UDPConn, error) {
	if !a.IsValid() {
		return nil, sentinel.Errorf(umbel.ErrGoal, "a socket needs an address, with port 0 for any free port")
	}
	network := "udp6"
	if plain(a).Addr().Is4() {
		network = "udp4"
	}
	conn, err := net.ListenUDP(network, net.UDPAddrFromAddrPort(plain(a)))
	if err != nil {
		return nil, err
	}
	if err := errors.Join(conn.SetReadBuffer(buffer), conn.SetWriteBuffer(buffer)); err != nil {
		conn.Close()
		return nil, fmt.Errorf("buffers of %d bytes: %w", buffer, err)
	}
	return conn, nil
}

// newSocket prepares an open socket for packets of up to longest bytes.
func newSocket(conn *net.UDPConn, longest int) (*socket, error) {
	s := &socket{conn: conn, in: newInbox(longest), out: newOutbox(longest)}
	if err := s.reader.open(conn, s.in); err != nil {
		return nil, err
	}
	return s, s.writer.open(conn)
}

// over reports whether an error means that the socket is closed or its deadline has
// passed.
func over(err error) bool {
	return errors.Is(err, net.ErrClosed) || errors.Is(err, os.ErrDeadlineExceeded)
}

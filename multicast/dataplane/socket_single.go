//go:build !linux || purego

package dataplane

import (
	"net"
	"net/netip"
)

// Without a system call for many packets, each packet takes one call.

// reader receives packets.
type reader struct{ conn *net.UDPConn }

func (r *reader) open(conn *net.UDPConn, _ *inbox) error {
	r.conn = conn
	return nil
}

// read waits for a packet and reads it into in.
func (r *reader) read(in *inbox) error {
	in.count = 0
	n, from, err := r.conn.ReadFromUDPAddrPort(in.slot(0))
	if cutOff(err) {
		n, err = in.room, nil
	}
	if err != nil {
		return err
	}
	in.size[0], in.from[0], in.count = n, plain(from), 1
	return nil
}

// writer sends packets.
type writer struct {
	conn *net.UDPConn
	to   []netip.AddrPort // by port
}

func (w *writer) open(conn *net.UDPConn) error {
	w.conn = conn
	return nil
}

// aim sets the addresses of the neighbors of all ports.
func (w *writer) aim(neighbors []netip.AddrPort) {
	w.to = make([]netip.AddrPort, len(neighbors))
	for i, a := range neighbors {
		w.to[i] = plain(a)
	}
}

// write sends packets of the box, from its first on, and returns the number sent. An
// error concerns the packet after those.
func (w *writer) write(o *outbox) (int, error) {
	for i := o.first; i < o.count; i++ {
		if _, err := w.conn.WriteToUDPAddrPort(o.packet(i), w.to[o.port[i]]); err != nil {
			return i - o.first, err
		}
	}
	return o.count - o.first, nil
}

// kernelDrops returns 0, because there is no portable way to count drops.
func kernelDrops(*net.UDPConn) (uint64, error) { return 0, nil }

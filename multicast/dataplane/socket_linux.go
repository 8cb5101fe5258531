//go:build linux && !purego

package dataplane

import (
	"encoding/binary"
	"net"
	"net/netip"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// On Linux one system call receives or sends up to burst packets. golang.org/x/net
// supports that too, but allocates two objects for the address of each received packet
// and prepares all messages again for each call. Here they are prepared once.

// message is struct mmsghdr.
type message struct {
	header unix.Msghdr
	length uint32
}

// address has room for a struct sockaddr_in or sockaddr_in6.
type address = unix.RawSockaddrInet6

// reader receives packets.
type reader struct {
	raw      syscall.RawConn
	messages [burst]message
	pieces   [burst]unix.Iovec
	senders  [burst]address
	call     func(fd uintptr) bool // the method receive, allocated once
	count    int
	errno    unix.Errno
}

func (r *reader) open(conn *net.UDPConn, in *inbox) (err error) {
	for i := range r.messages {
		h := &r.messages[i].header
		r.pieces[i].Base = &in.slot(i)[0]
		r.pieces[i].SetLen(in.room)
		h.Iov = &r.pieces[i]
		h.SetIovlen(1)
		h.Name = (*byte)(unsafe.Pointer(&r.senders[i]))
		h.Namelen = unix.SizeofSockaddrInet6
	}
	r.call = r.receive
	r.raw, err = conn.SyscallConn()
	return err
}

func (r *reader) receive(fd uintptr) bool {
	for {
		n, _, errno := unix.Syscall6(unix.SYS_RECVMMSG, fd, uintptr(unsafe.Pointer(&r.messages[0])), burst, unix.MSG_DONTWAIT, 0, 0)
		if errno == unix.EINTR {
			continue
		}
		r.count, r.errno = int(n), errno
		return errno != unix.EAGAIN
	}
}

// read waits for packets and reads up to burst of them into in, the box with which the
// reader was opened.
func (r *reader) read(in *inbox) error {
	in.count = 0
	if err := r.raw.Read(r.call); err != nil {
		return err
	}
	if r.errno != 0 {
		return os.NewSyscallError("recvmmsg", r.errno)
	}
	for i := range r.count {
		in.size[i] = int(r.messages[i].length)
		in.from[i] = addrPort(&r.senders[i])
		r.messages[i].header.Namelen = unix.SizeofSockaddrInet6
	}
	in.count = r.count
	return nil
}

// writer sends packets.
type writer struct {
	raw      syscall.RawConn
	messages [burst]message
	pieces   [burst]unix.Iovec
	to       []address             // by port
	lengths  []uint32              // lengths of the addresses
	call     func(fd uintptr) bool // the method send, allocated once
	first    int
	last     int
	count    int
	errno    unix.Errno
}

func (w *writer) open(conn *net.UDPConn) (err error) {
	for i := range w.messages {
		w.messages[i].header.Iov = &w.pieces[i]
		w.messages[i].header.SetIovlen(1)
	}
	w.call = w.send
	w.raw, err = conn.SyscallConn()
	return err
}

// aim sets the addresses of the neighbors of all ports.
func (w *writer) aim(neighbors []netip.AddrPort) {
	w.to, w.lengths = make([]address, len(neighbors)), make([]uint32, len(neighbors))
	for i, a := range neighbors {
		w.lengths[i] = putAddress(&w.to[i], a)
	}
}

func (w *writer) send(fd uintptr) bool {
	for {
		n, _, errno := unix.Syscall6(unix.SYS_SENDMMSG, fd, uintptr(unsafe.Pointer(&w.messages[w.first])), uintptr(w.last-w.first), unix.MSG_DONTWAIT, 0, 0)
		if errno == unix.EINTR {
			continue
		}
		w.count, w.errno = int(n), errno
		return errno != unix.EAGAIN
	}
}

// write sends packets of the box, from its first on, and returns the number sent. An
// error concerns the packet after those.
func (w *writer) write(o *outbox) (int, error) {
	for i := o.first; i < o.count; i++ {
		p, h := o.packet(i), &w.messages[i].header
		w.pieces[i].Base = unsafe.SliceData(p)
		w.pieces[i].SetLen(len(p))
		h.Name = (*byte)(unsafe.Pointer(&w.to[o.port[i]]))
		h.Namelen = w.lengths[o.port[i]]
	}
	w.first, w.last = o.first, o.count
	if err := w.raw.Write(w.call); err != nil {
		return 0, err
	}
	if w.errno != 0 {
		return 0, os.NewSyscallError("sendmmsg", w.errno)
	}
	return w.count, nil
}

// addrPort returns the address that the system wrote.
func addrPort(a *address) netip.AddrPort {
	if a.Family == unix.AF_INET {
		v4 := (*unix.RawSockaddrInet4)(unsafe.Pointer(a))
		return netip.AddrPortFrom(netip.AddrFrom4(v4.Addr), fromNetwork(&v4.Port))
	}
	return netip.AddrPortFrom(netip.AddrFrom16(a.Addr).Unmap(), fromNetwork(&a.Port))
}

// putAddress writes an address in the form of the system and returns its length.
func putAddress(to *address, a netip.AddrPort) uint32 {
	if a = plain(a); a.Addr().Is4() {
		v4 := (*unix.RawSockaddrInet4)(unsafe.Pointer(to))
		v4.Family, v4.Addr = unix.AF_INET, a.Addr().As4()
		toNetwork(&v4.Port, a.Port())
		return unix.SizeofSockaddrInet4
	}
	to.Family, to.Addr = unix.AF_INET6, a.Addr().As16()
	toNetwork(&to.Port, a.Port())
	return unix.SizeofSockaddrInet6
}

// Ports are in network byte order on every machine.

func fromNetwork(p *uint16) uint16 { return binary.BigEndian.Uint16((*[2]byte)(unsafe.Pointer(p))[:]) }

func toNetwork(p *uint16, port uint16) {
	binary.BigEndian.PutUint16((*[2]byte)(unsafe.Pointer(p))[:], port)
}

// kernelDrops returns the number of packets that arrived when the socket was full.
func kernelDrops(conn *net.UDPConn) (drops uint64, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var info [memoryDrops + 1]uint32
	var errno unix.Errno
	err = raw.Control(func(fd uintptr) {
		size := uint32(unsafe.Sizeof(info))
		_, _, errno = unix.Syscall6(unix.SYS_GETSOCKOPT, fd, unix.SOL_SOCKET, unix.SO_MEMINFO,
			uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0)
	})
	if err == nil && errno != 0 {
		err = os.NewSyscallError("getsockopt", errno)
	}
	return uint64(info[memoryDrops]), err
}

// memoryDrops is SK_MEMINFO_DROPS: the index of the number of drops in SO_MEMINFO.
const memoryDrops = 8

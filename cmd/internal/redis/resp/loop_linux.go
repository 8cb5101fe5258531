package resp

import (
	"net"
	"os"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/umbel-filters/umbel/internal/event"
)

// loops are the event loops of a server, which begin with its first connection.
type loops struct{ all []*loop }

// take moves a connection of a TCP or Unix socket to the loop with the fewest. It returns other connections
// unchanged, and all if there are no loops. The caller holds Server.mu.
func (ls *loops) take(s *Server, nc net.Conn) net.Conn {
	from, ok := nc.(syscall.Conn)
	if !ok || s.o.Loops < 0 {
		return nc
	}
	if ls.all == nil {
		n := s.o.Loops
		if n == 0 {
			n = max(runtime.GOMAXPROCS(0)/2, 1)
		}
		for range n {
			l, err := newLoop(s, len(ls.all)%len(s.traffic)) // the number of processors may have risen
			if err != nil {
				s.messages.Logger(s.o.Log).Warn("no event loop; each connection has a goroutine", event.NoEventLoop, "error", err)
				break
			}
			ls.all = append(ls.all, l)
		}
	}
	if len(ls.all) == 0 {
		return nc
	}
	l := slices.MinFunc(ls.all, func(a, b *loop) int { return a.size() - b.size() })
	if c := newSocket(l, nc, from); c != nil {
		nc.Close()
		return c
	}
	return nc
}

// add begins to serve a connection that take moved. It reports false for others.
func (ls *loops) add(c *Conn) bool {
	s, ok := c.nc.(*socket)
	if !ok {
		return false
	}
	s.conn = c
	c.lane = s.loop.lane
	c.welcome()
	s.loop.add(s)
	return true
}

// close ends the loops. There are no connections any more.
func (ls *loops) close() {
	for _, l := range ls.all {
		l.close()
	}
}

// maxEvents is the number of events that a loop reads at once, one per connection.
const maxEvents = 128

// loop is an event loop: see the comment on shift.
type loop struct {
	s    *Server
	lane int      // of the counters of its connections
	fd   int      // of epoll
	file *os.File // for Go's poller: a loop that waits holds no processor of the scheduler
	raw  syscall.RawConn
	take func(fd uintptr) (done bool) // of raw.Read, made once

	events [maxEvents]unix.EpollEvent // used by the goroutine that runs the loop
	n      int

	mu      sync.Mutex
	sockets []*socket // by descriptor
	count   int
	shift   *loopShift // that runs the loop
	rounds  uint64     // that began
	waits   bool       // for events
	watched bool
	closed  bool
}

func newLoop(s *Server, lane int) (*loop, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return nil, os.NewSyscallError("fcntl", err)
	}
	l := &loop{s: s, lane: lane, fd: fd, file: os.NewFile(uintptr(fd), "epoll")}
	l.take = func(uintptr) bool {
		n, err := eventsNow(fd, l.events[:])
		if l.n = n; err != 0 {
			l.n = 0
		}
		return l.n > 0
	}
	if l.raw, err = l.file.SyscallConn(); err != nil {
		l.file.Close()
		return nil, err
	}
	l.shift = &loopShift{loop: l, poll: true}
	go l.shift.run()
	return l, nil
}

// close ends the loop.
func (l *loop) close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.file.Close()
}

func (l *loop) size() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.count
}

// watchEvents are reported once each time that they happen. Descriptors can always be written at first, so
// that the first event of each comes at once.
const watchEvents = unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET

// add waits for input of a connection.
func (l *loop) add(s *socket) {
	if err := l.register(s); err != nil {
		s.conn.logger().Warn("client disconnected", event.ClientDisconnected, "reason", err)
		l.forget(s)
		l.s.end(s.conn)
	}
}

func (l *loop) register(s *socket) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if more := s.fd + 1 - len(l.sockets); more > 0 {
		l.sockets = append(l.sockets, make([]*socket, more)...)
	}
	l.sockets[s.fd] = s
	l.count++
	s.parked = true
	return l.control(unix.EPOLL_CTL_ADD, s)
}

func (l *loop) control(op int, s *socket) error {
	return os.NewSyscallError("epoll_ctl", unix.EpollCtl(l.fd, op, s.fd, &unix.EpollEvent{Events: watchEvents, Fd: int32(s.fd)}))
}

// again makes an event happen, which begins another round of a connection. The caller holds mu.
func (l *loop) again(s *socket) {
	if !s.closed && !l.closed {
		_ = l.control(unix.EPOLL_CTL_MOD, s) // fails for one that is about to be added
	}
}

// forget closes a connection.
func (l *loop) forget(s *socket) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sockets[s.fd] = nil
	l.count--
	s.closed = true
	unix.Close(s.fd)
}

// wait waits for events. It returns an error after close.
func (l *loop) wait() error {
	for {
		if err := l.raw.Read(l.take); err != nil || l.n > 0 {
			return err
		}
	}
}

// eventsNow returns the number of events that have happened.
func eventsNow(fd int, events []unix.EpollEvent) (int, unix.Errno) {
	n, _, err := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(fd), uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), 0, 0, 0)
	return int(n), err
}

// stuckTime is about the time after which a loop continues without a command that has not ended.
const stuckTime = 10 * time.Millisecond

// watch makes the loop continue without a command that has not ended after stuckTime. It returns when the
// loop has been idle for a second.
func (l *loop) watch() {
	for idle, last := 0, uint64(0); ; {
		time.Sleep(stuckTime)
		l.mu.Lock()
		switch {
		case l.rounds != last:
			idle, last = 0, l.rounds
		case !l.waits:
			l.shift.relieve()
		default:
			idle++
		}
		l.watched = !l.closed && idle < int(time.Second/stuckTime)
		ends := !l.watched
		l.mu.Unlock()
		if ends {
			return
		}
	}
}

package node

import (
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// notify tells systemd how the process does (sd_notify): a datagram to the socket that it named.
// Where nobody asked, nobody is told.
func notify(state string) {
	path := os.Getenv("NOTIFY_SOCKET")
	if path == "" {
		return
	}
	c, err := net.Dial("unixgram", strings.Replace(path, "@", "\x00", 1))
	if err != nil {
		return
	}
	defer c.Close()
	_, _ = c.Write([]byte(state)) // who doesn't listen misses nothing
}

// watchdog tells systemd that the node answers, twice in the time after which it is ended
// otherwise.
func (n *Node) watchdog() {
	usec, err := strconv.ParseInt(os.Getenv("WATCHDOG_USEC"), 10, 64)
	if err != nil || usec <= 0 {
		return
	}
	n.every(time.Duration(usec)*time.Microsecond/2, func() {
		n.engine.Get([]byte("watchdog")) // it would wait for a lock that is never given back
		notify("WATCHDOG=1")
	})
}

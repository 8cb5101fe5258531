package node

import (
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// notify sends the state to systemd (sd_notify), if systemd set the socket.
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
	_, _ = c.Write([]byte(state)) // best effort
}

// watchdog reports to systemd that the node responds, twice per watchdog interval.
func (n *Node) watchdog() {
	usec, err := strconv.ParseInt(os.Getenv("WATCHDOG_USEC"), 10, 64)
	if err != nil || usec <= 0 {
		return
	}
	n.every(time.Duration(usec)*time.Microsecond/2, func() {
		n.engine.Get([]byte("watchdog")) // blocks if the engine is deadlocked
		notify("WATCHDOG=1")
	})
}

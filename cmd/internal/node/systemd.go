package node

import (
	"net"
	"os"
	"strings"
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

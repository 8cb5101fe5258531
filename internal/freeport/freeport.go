// Package freeport finds addresses for programs that tests start, and start again. Only tests and measurements
// import it.
package freeport

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
)

// used contains the ports that Addr returned.
var used sync.Map

// Addr returns a loopback address whose TCP and UDP ports are not in use, and which no other call in this process
// returns. The port is outside the range from which the system takes the ports of connections and those of listeners
// with port 0, on Linux with its usual settings: one from that range is often taken before the program listens, or while
// it does not run.
func Addr() (string, error) {
	const first, n = 12_000, 20_000
	for range n {
		port := first + rand.IntN(n)
		if _, taken := used.LoadOrStore(port, nil); !taken && free(port) {
			return address(port), nil
		}
	}
	return "", errors.New("no free port")
}

func address(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }

func free(port int) bool {
	l, err := net.Listen("tcp", address(port))
	if err != nil {
		return false
	}
	defer l.Close()
	c, err := net.ListenPacket("udp", address(port))
	if err != nil {
		return false
	}
	c.Close()
	return true
}

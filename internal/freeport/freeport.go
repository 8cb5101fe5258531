// Package freeport finds addresses for programs that tests start, and start again. Only tests and measurements
// import it.
package freeport

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"runtime"
	"sync"
	"syscall"
)

// Ports are outside the range from which the system takes the ports of connections and those of listeners with port 0,
// on Linux with its usual settings: one from that range is often taken before the program listens, or while it does not
// run.
const (
	firstPort = 12_000
	ports     = 20_000
)

// claimed contains the ports that are reserved for this process. Each has its claim, so that the claim stays open.
var claimed sync.Map

// Addr returns a loopback address whose TCP and UDP ports are not in use, and which no other call returns in this
// process, or, on Linux, in any process before this one ends.
func Addr() (string, error) {
	port, err := Ports(1)
	return address(port), err
}

// Ports is Addr for n successive ports. It returns the first.
func Ports(n int) (int, error) {
	for range ports {
		if first := firstPort + rand.IntN(ports-n+1); reserve(first, n) {
			return first, nil
		}
	}
	return 0, errors.New("no free port")
}

func address(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }

// reserve reserves n ports and reports whether all were free. Those that it reserves remain reserved if one is not.
func reserve(first, n int) bool {
	for port := first; port < first+n; port++ {
		// A port that is claimed may belong to a program that starts now, which a probe could prevent.
		if !claim(port) || !free(port) {
			return false
		}
	}
	return true
}

// claim reserves a port until the process ends, and reports whether no other call and no other process has it. On Linux
// the claim is a socket whose name is in no file system: like ports, such names are those of a network namespace, and
// the system frees them with the process.
func claim(port int) bool {
	if _, taken := claimed.LoadOrStore(port, nil); taken {
		return false
	}
	if runtime.GOOS != "linux" {
		return true
	}
	l, err := net.Listen("unix", fmt.Sprintf("@umbel-test-port-%d", port))
	claimed.Store(port, l)
	return !errors.Is(err, syscall.EADDRINUSE)
}

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

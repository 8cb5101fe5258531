package freeport

import (
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

func TestAddr(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		addr, err := Addr()
		if err != nil {
			t.Fatal(err)
		}
		if seen[addr] {
			t.Errorf("%s is returned twice", addr)
		}
		seen[addr] = true
		l, err := net.Listen("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
	}
}

func TestPorts(t *testing.T) {
	first, err := Ports(10)
	if err != nil {
		t.Fatal(err)
	}
	for port := first; port < first+10; port++ {
		if claim(port) {
			t.Errorf("%d of the ports from %d on is not reserved", port, first)
		}
	}
}

// contested has the port that another process of this test tries to reserve.
const contested = "UMBEL_TEST_PORT"

// TestProcesses: no other process gets the port while this one runs.
func TestProcesses(t *testing.T) {
	if port, err := strconv.Atoi(os.Getenv(contested)); err == nil {
		if reserve(port, 1) {
			t.Errorf("port %d is reserved twice", port)
		}
		return
	}
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux")
	}
	addr, err := Addr()
	if err != nil {
		t.Fatal(err)
	}
	again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProcesses$")
	again.Env = append(os.Environ(), contested+"="+strings.TrimPrefix(addr, "127.0.0.1:"))
	if out, err := again.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

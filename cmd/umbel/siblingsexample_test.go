//go:build unix

package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// The example of three nginx caches prints what its page shows.
func TestNginxSiblings(t *testing.T) {
	if testing.Short() {
		t.Skip("starts other programs")
	}
	for _, program := range []string{"nginx", "curl"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed: apt-get install %[1]s", program)
		}
	}
	self, err := exec.LookPath("umbel") // this program: see TestMain
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command("../../docs/examples/nginx-siblings/try")
	c.Env = append(os.Environ(), "PATH="+filepath.Dir(self)+":"+os.Getenv("PATH"), fmt.Sprint("PORT=", freePorts(t, 10)))
	c.WaitDelay = 10 * time.Second
	output, err := c.CombinedOutput()
	const want = `north: 100 files, 100 requests to the origin
south: 100 files, 0 requests to the origin
east: 100 files, 0 requests to the origin
`
	if err != nil || string(output) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, output, want)
	}
}

// freePorts returns the first of n neighboring ports that are free.
func freePorts(t *testing.T, n int) int {
	t.Helper()
next:
	for first := 21_000; first < 32_000; first += n {
		for port := first; port < first+n; port++ {
			l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", port))
			if err != nil {
				continue next
			}
			l.Close()
		}
		return first
	}
	t.Fatal("no free ports")
	return 0
}

//go:build unix

package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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
	const example = "../../docs/examples/nginx-siblings/"
	page := read(t, example+"README.md")
	for _, name := range []string{"try", "cache.conf.template", "origin.conf.template"} {
		read(t, example+name) // so that the result is not that of another version of the file
	}
	c := exec.Command(example + "try")
	c.Env = append(os.Environ(), "PATH="+filepath.Dir(self)+":"+os.Getenv("PATH"), fmt.Sprint("PORT=", freePorts(t, 10)))
	c.WaitDelay = 10 * time.Second
	output, err := c.CombinedOutput()
	lines := strings.ReplaceAll("\n"+string(output), "\n", "\n    ")
	if err != nil || !strings.Contains(page, strings.TrimSpace(lines)) {
		t.Errorf("%v: the page does not contain the output\n%s", err, output)
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

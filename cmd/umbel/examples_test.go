//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/internal/freeport"
)

// The examples print what their pages show.
func TestExamples(t *testing.T) {
	if testing.Short() {
		t.Skip("starts other programs")
	}
	for name, programs := range map[string][]string{
		"nginx-siblings": {"nginx", "curl"},
		"squid-relay":    {"squid", "nginx", "curl"},
		"bazel-cache":    {"nginx", "curl"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, program := range programs {
				if _, err := exec.LookPath(program); err != nil {
					t.Skipf("%s is not installed: apt-get install %[1]s", program)
				}
			}
			tryExample(t, "../../docs/examples/"+name)
		})
	}
}

// tryExample compares the output of an example's script with its page.
func tryExample(t *testing.T, directory string) {
	t.Helper()
	self, err := exec.LookPath("umbel") // this program: see TestMain
	if err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(directory)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !f.IsDir() {
			read(t, filepath.Join(directory, f.Name())) // so that the result is not that of another version of the file
		}
	}
	ports, err := freeport.Ports(10)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(filepath.Join(directory, "try"))
	c.Env = append(os.Environ(), "PATH="+filepath.Dir(self)+":"+os.Getenv("PATH"), fmt.Sprint("PORT=", ports))
	c.WaitDelay = 10 * time.Second
	output, err := c.CombinedOutput()
	lines := strings.ReplaceAll("\n"+string(output), "\n", "\n    ")
	if err != nil || !strings.Contains(read(t, filepath.Join(directory, "README.md")), strings.TrimSpace(lines)) {
		t.Errorf("%v: the page does not contain the output\n%s", err, output)
	}
}

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
	t.Run("bazel", func(t *testing.T) {
		bazel, err := exec.LookPath("bazel")
		if err != nil {
			t.Skip("bazel is not installed: npm install -g @bazel/bazel-linux_x64")
		}
		tryExample(t, "../../docs/examples/bazel-cache", "BAZEL="+bazel)
	})
}

// tryExample compares the output of an example's script, with variables of the environment, with its page.
func tryExample(t *testing.T, directory string, variables ...string) {
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
	c.Env = append(append(os.Environ(), variables...), "PATH="+filepath.Dir(self)+":"+os.Getenv("PATH"), fmt.Sprint("PORT=", ports))
	c.WaitDelay = 10 * time.Second
	output, err := c.CombinedOutput()
	lines := strings.ReplaceAll("\n"+string(output), "\n", "\n    ")
	if err != nil || !strings.Contains(read(t, filepath.Join(directory, "README.md")), strings.TrimSpace(lines)) {
		t.Errorf("%v: the page does not contain the output\n%s", err, output)
	}
}

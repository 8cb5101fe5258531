package siblings_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		os.RemoveAll(built)
		os.Exit(code)
	}))
}

// built is the directory of the program that build builds, or "".
var built string

// build builds the program of this repository once, and returns its path.
var build = sync.OnceValues(func() (string, error) {
	var err error
	if built, err = os.MkdirTemp("", "siblings-umbel-"); err != nil {
		return "", err
	}
	file := filepath.Join(built, "umbel-cache")
	c := exec.Command("go", "build", "-tags", "noopenapi", "-ldflags", "-s -w", "-o", file, "./umbel-cache")
	c.Dir = filepath.Join("..", "cmd")
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return file, nil
})

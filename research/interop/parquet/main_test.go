//go:build !noarrow

package parquet

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/research/interop/internal/proc"
)

// umbel is the path of the program, which TestMain builds.
var umbel string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "umbel-parquet-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	if umbel, err = proc.Build(ctx, dir, "umbel"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

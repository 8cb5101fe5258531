package faults

import (
	"strings"
	"testing"
)

// TestSecondProcess sees that two nodes never share a directory.
func TestSecondProcess(t *testing.T) {
	dir := t.TempDir()
	first := start(t, dir)
	second, err := tryStart(t, dir)
	if err == nil {
		second.Kill()
		t.Fatal("two nodes work in one directory")
	}
	if !strings.Contains(err.Error(), "in use") {
		t.Errorf("the second says %q, want that the directory is in use", err)
	}
	do(t, dial(t, first), "BF.ADD", "k", "a")
}

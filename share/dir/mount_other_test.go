//go:build !linux

package dir_test

import (
	"errors"
	"testing"
)

var errNoSpace, errReadOnly = errors.New("full"), errors.New("read-only")

func smallDisk(t *testing.T, _ int) string {
	t.Helper()
	t.Skip("the test makes a file system on Linux only")
	return ""
}

func makeReadOnly(*testing.T, string) {}

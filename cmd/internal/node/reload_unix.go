//go:build unix

package node

import (
	"os"
	"syscall"
)

// reloadSignal requests a reload.
var reloadSignal os.Signal = syscall.SIGHUP

//go:build unix

package node

import (
	"os"
	"syscall"
)

// reloadSignal asks for settings to be read again.
var reloadSignal os.Signal = syscall.SIGHUP

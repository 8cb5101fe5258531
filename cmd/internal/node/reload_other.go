//go:build !unix

package node

import "os"

// reloadSignal asks for settings to be read again; this system has none.
var reloadSignal os.Signal

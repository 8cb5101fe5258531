//go:build !unix

package node

import "os"

// reloadSignal requests a reload; this system has no such signal.
var reloadSignal os.Signal

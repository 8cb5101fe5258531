package dataplane

import (
	"errors"
	"syscall"
)

// messageSize is WSAEMSGSIZE.
const messageSize syscall.Errno = 10040

// cutOff reports whether an error means that a packet was longer than its buffer. Other
// systems truncate such packets silently.
func cutOff(err error) bool { return errors.Is(err, messageSize) }

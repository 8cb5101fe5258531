package dataplane

import (
	"errors"
	"syscall"
)

// messageSize is WSAEMSGSIZE.
const messageSize syscall.Errno = 10040

// cutOff says whether an error is about a packet longer than the room for it: other
// systems cut it off and say nothing.
func cutOff(err error) bool { return errors.Is(err, messageSize) }

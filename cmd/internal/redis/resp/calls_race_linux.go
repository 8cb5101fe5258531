//go:build race

package resp

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// The race detector knows that what is read was written before only if both sides call package syscall, as
// package net does.

// receiveNow reads into b, which is not empty.
func receiveNow(fd int, b []byte) (int, unix.Errno) { return counted(syscall.Read(fd, b)) }

// sendNow writes from b, which is not empty.
func sendNow(fd int, b []byte) (int, unix.Errno) { return counted(syscall.Write(fd, b)) }

// counted returns the number of bytes and the error as the calls of calls_linux.go do.
func counted(n int, err error) (int, unix.Errno) {
	number, _ := errors.AsType[unix.Errno](err)
	return n, number
}

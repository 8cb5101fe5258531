// Package disk is a directory of files as the log and the snapshots use it. Tests replace it by a
// simulated one (disktest), which fails, fills and loses power.
package disk

import (
	"errors"
	"io"
	"syscall"
)

// IsFull reports whether err says that the disk, or the user's part of it, has no room.
func IsFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// ErrLocked is wrapped by Dir.Lock if another process has the directory locked.
var ErrLocked = errors.New("directory in use")

// ErrUnreadable is wrapped if the disk reports an error while it reads a file, which may be undamaged.
var ErrUnreadable = errors.New("the disk cannot read the file")

// Dir is a directory. Its methods may be called concurrently. Errors of methods that need an existing
// file wrap fs.ErrNotExist if the file does not exist.
type Dir interface {
	// Open opens a file for reading.
	Open(name string) (File, error)
	// Edit opens an existing file for reading and writing.
	Edit(name string) (File, error)
	// Create makes an empty file, or empties an existing one, and opens it for reading and writing.
	Create(name string) (File, error)
	// Rename replaces the file to, if it exists.
	Rename(from, to string) error
	Remove(name string) error
	// List returns all files and directories, sorted by name.
	List() ([]Info, error)
	// Free returns the number of bytes that files can still take. The error wraps errors.ErrUnsupported if
	// the system does not report it.
	Free() (int64, error)
	// Sync makes durable which files exist under which names.
	Sync() error
	// Lock excludes other processes until the result is closed. A shared lock excludes exclusive
	// locks only. The error wraps ErrLocked.
	Lock(shared bool) (io.Closer, error)
}

// File is an open file of a Dir.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Size() (int64, error)
	Truncate(size int64) error
	// Allocate extends the file to at least size bytes with zeros and reserves the space, so
	// that writes below size do not fail on a full disk.
	Allocate(size int64) error
	// Prefetch makes the system read the file in the background, if it can.
	Prefetch()
	// Sync makes the data that was written before and the size durable.
	Sync() error
}

// Info describes a file of a directory.
type Info struct {
	Name    string
	Size    int64
	Regular bool // neither a directory nor a device
}

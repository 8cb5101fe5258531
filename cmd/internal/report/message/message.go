// Package message renders errors for users of the command and of the server. An error of a Go program
// has parts for its callers: the sentinels that it wraps, and the names of packages. A message has
// none of them, and everything else.
package message

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/cmd/internal/durable/disk"
	"github.com/umbel-filters/umbel/cmd/internal/files/parquetfile"
	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/sim"
	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/share"
)

// classes are the sentinels that classify an error for errors.Is and add nothing to its text.
var classes = []error{
	umbel.ErrGoal, umbel.ErrMismatch, umbel.ErrKind, umbel.ErrCorrupt, umbel.ErrLimit,
	errors.ErrUnsupported, plan.ErrRange, cells.ErrShape, inpacket.ErrVersion, inpacket.ErrMalformed, share.ErrStale,
	parquetfile.ErrColumn, parquetfile.ErrValue, sim.ErrExperiment,
}

// packages are the prefixes of errors that mean nothing to users. The names of kinds are none of them.
var packages = []string{
	"umbel", "cells", "wire", "delta", "plan", "message", "entropy", "eliasfano", "model", "overlap",
	"inpacket", "adaptive", "multicast", "tree", "topology", "sim", "scheme", "draw", "dataplane",
	"share", "share/dir", "share/web", "share/blob", "share/nats", "siblings",
	"access", "backup", "store", "recovery", "journal", "snapshot", "snapfile", "wal", "parquetfile",
}

// Of returns the text of err on one line. It omits the sentinels that classify the errors in err's
// tree and the names of packages with which they begin. The rest of each text stays.
func Of(err error) string {
	return strings.ReplaceAll(render(err), "\n", "; ") // of errors.Join
}

// render replaces, in the text of err, the text of each error that err wraps by its own rendering.
func render(err error) string {
	if e, ok := err.(*fs.PathError); ok {
		return e.Path + ": " + render(e.Err) + remedy(e)
	}
	if e, ok := err.(*net.OpError); ok && e.Op == "listen" && errors.Is(e, syscall.EADDRINUSE) {
		return fmt.Sprintf("%v is in use by another process; stop it, or choose another address", e.Addr)
	}
	text := err.Error()
	for _, cause := range causes(err) {
		whole := cause.Error()
		i := strings.LastIndex(text, whole)
		if i < 0 {
			continue // err has words of its own for it
		}
		before, after := text[:i], text[i+len(whole):]
		switch {
		case !slices.Contains(classes, cause):
			text = before + render(cause) + after
		case strings.HasSuffix(before, ": "):
			text = strings.TrimSuffix(before, ": ") + after
		case before == "" && strings.HasPrefix(after, ": "):
			text = strings.TrimPrefix(after, ": ")
		}
	}
	if name, rest, ok := strings.Cut(text, ": "); ok && slices.Contains(packages, name) {
		return rest
	}
	return text
}

// remedy says what to do if the disk of a file is full. Devices such as standard output have no directory to say it of.
func remedy(e *fs.PathError) string {
	if !disk.IsFull(e.Err) || strings.HasPrefix(e.Path, "/dev/") {
		return ""
	}
	directory := filepath.Dir(e.Path)
	if directory == "." {
		directory = "the current directory"
	}
	return "; free space on the disk of " + directory
}

// causes returns the errors that err itself wraps.
func causes(err error) []error {
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		if cause := e.Unwrap(); cause != nil {
			return []error{cause}
		}
	case interface{ Unwrap() []error }:
		return e.Unwrap()
	}
	return nil
}

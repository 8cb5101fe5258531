package atomicfile

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/umbel-filters/umbel/internal/wholefile"
)

// Lock is [wholefile.Lock].
func Lock(path string) (io.Closer, error) { return wholefile.Lock(path) }

// Owner is a [wholefile.Owner] that writes as [Write] does.
type Owner struct {
	*wholefile.Owner
	path string
}

// Own locks the file at path as [Lock] does. A missing file is locked from the first Write on.
func Own(path string) (*Owner, error) {
	o, err := wholefile.Own(path)
	if err != nil {
		return nil, err
	}
	return &Owner{o, path}, nil
}

// Write replaces the file as the function [Write] does, and keeps it locked. If the file was missing
// and another program has made it meanwhile, the error wraps fs.ErrExist and that file stays. SIGINT,
// SIGTERM and SIGHUP do not interrupt it: a program saves its work when they arrive, and they often arrive
// twice.
func (o *Owner) Write(write func(io.Writer) error) error {
	ignored := make(chan os.Signal, 1)
	signal.Notify(ignored, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(ignored)
	return writeUntil(context.Background(), o.path, 0o666, o.Replace, write)
}

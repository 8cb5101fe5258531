package oplog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// copies are the names of directories beside the log's files that hold copies of them.
const copies = "copy-*"

// copyLog copies the files of a log to a directory of their own, and returns that. JetStream cuts
// a file where it finds damage, so one that is only to be looked at is looked at in a copy. What
// a process that was killed left of such copies goes.
func copyLog(dir string) (string, error) {
	old, err := filepath.Glob(filepath.Join(dir, copies))
	for _, path := range old {
		err = errors.Join(err, os.RemoveAll(path))
	}
	if err != nil {
		return "", err
	}
	to, err := os.MkdirTemp(dir, copies)
	if err != nil {
		return "", err
	}
	err = os.CopyFS(filepath.Join(to, "jetstream"), os.DirFS(filepath.Join(dir, "jetstream")))
	if err == nil {
		err = copyFile(filepath.Join(to, "head"), filepath.Join(dir, "head"))
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("copy of the log for checking, which needs free space: %w", err), os.RemoveAll(to))
	}
	return to, nil
}

// copyFile copies a file, if it is there.
func copyFile(to, from string) (err error) {
	in, err := os.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	_, err = io.Copy(out, in)
	return err
}

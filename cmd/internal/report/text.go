package report

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/umbel-filters/umbel/cmd/internal/durable/disk"
)

// Text returns the text of err on one line. If it is that of a file on a full disk, it states what to do.
func Text(err error) string {
	text := strings.ReplaceAll(err.Error(), "\n", "; ") // of errors.Join
	if file, ok := errors.AsType[*fs.PathError](err); ok {
		text += remedy(file)
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

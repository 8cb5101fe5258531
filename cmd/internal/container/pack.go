package container

import (
	"io"
	"runtime"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/atomicfile"
	"github.com/umbel-filters/umbel/wire"
)

// Packer returns the packer of a program that has the machine for itself.
func Packer() wire.Packer { return wire.Packer{Workers: runtime.GOMAXPROCS(0)} }

// WritePacked is [Write], each block in its smallest coding.
func WritePacked(path string, s umbel.State) error {
	return atomicfile.Write(path, func(w io.Writer) error { return Packer().Write(w, s) })
}

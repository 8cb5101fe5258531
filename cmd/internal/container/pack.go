package container

import (
	"runtime"

	"github.com/umbel-filters/umbel/wire"
)

// Packer returns the packer of a program that uses all cores.
func Packer() wire.Packer { return wire.Packer{Workers: runtime.GOMAXPROCS(0)} }

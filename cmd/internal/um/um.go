// Package um provides what RedisBloom's commands lack, as UM.*: filters of any kind made, merged,
// intersected, folded, packed, patched and planned.
package um

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/resp"
)

// Options say what new filters are where a command doesn't.
type Options struct {
	Hasher   umbel.Hasher
	MaxBytes uint64 // of a container that comes in
}

// Commands returns the table of the package.
func Commands(e *engine.Engine, o Options) resp.Table { panic("todo") }

//go:build !amd64 || purego || race

package blocked

import "github.com/umbel-filters/umbel"

// guide is what kernels need of a shape. This machine has no kernels.
type guide struct{}

func guideOf(words, bits int) *guide { return nil }

func has(s *blockArray, h1, h2 uint64) uint8 { return hasPlain(s, h1, h2) }
func add(s *blockArray, h1, h2 uint64) uint8 { return addPlain(s, h1, h2) }

func hasMany(s *blockArray, dst []bool, ds []umbel.Digest)      { hasManyPlain(s, dst, ds) }
func addMany(s *blockArray, n int, ds []umbel.Digest)           { addManyPlain(s, n, ds) }
func addManyChanged(s *blockArray, c []bool, ds []umbel.Digest) { addManyChangedPlain(s, c, ds) }
func prefetchMany(s *blockArray, ds []umbel.Digest)             { prefetchManyPlain(s, ds) }

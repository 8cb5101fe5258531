package dynamic

import "github.com/umbel-filters/umbel"

// Hasher returns the hasher of the filter's keys.
func (f *Filter) Hasher() umbel.Hasher { return f.shape.Layer.Hasher }

// Hasher returns the hasher of the filter's keys.
func (f *Counting) Hasher() umbel.Hasher { return f.shape.Layer.Hasher }

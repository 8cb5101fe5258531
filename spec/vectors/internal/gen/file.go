package main

import "github.com/umbel-filters/umbel/spec/vectors/internal/vector"

type (
	file  = vector.File
	field = vector.Field
)

// Package filter lists the kinds of filter that umbel has, for programs that handle
// any of them. A program that wants fewer, or kinds of its own as well, makes its
// own list:
//
//	kinds := append(slices.Clone(filter.All), mine.Kind)
package filter

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/blocked"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/filter/dynamic"
	"github.com/umbel-filters/umbel/filter/folding"
	"github.com/umbel-filters/umbel/filter/foreign/imported"
	"github.com/umbel-filters/umbel/filter/foreign/nixbloom"
	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
	"github.com/umbel-filters/umbel/filter/foreign/splitblock"
	"github.com/umbel-filters/umbel/filter/foreign/squid"
	"github.com/umbel-filters/umbel/filter/partitioned"
	"github.com/umbel-filters/umbel/filter/ribbon"
	"github.com/umbel-filters/umbel/filter/scalable"
	"github.com/umbel-filters/umbel/filter/sparse"
	"github.com/umbel-filters/umbel/filter/union"
	"github.com/umbel-filters/umbel/filter/weighted"
	"github.com/umbel-filters/umbel/filter/window"
)

//go:generate go run ./internal/gen

// All lists every kind of this module.
var All = umbel.Kinds{
	bloom.Kind,
	partitioned.Kind,
	blocked.Kind,
	splitblock.Kind,
	counting.Kind,
	weighted.Kind,
	weighted.CountingKind,
	scalable.Kind,
	dynamic.Kind,
	folding.Kind,
	window.Kind,
	sparse.Kind,
	redisbloom.Kind,
	squid.Kind,
	nixbloom.Kind,
	imported.Kind,
	ribbon.Kind,
	union.Kind,
}

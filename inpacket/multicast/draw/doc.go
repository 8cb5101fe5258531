// Package draw draws trees over topologies as SVG. Pictures follow the reader's choice
// of light or dark, run no scripts, and say in words what they show.
package draw

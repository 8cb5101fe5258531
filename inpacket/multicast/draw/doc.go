// Package draw draws trees over topologies as SVG.
package draw

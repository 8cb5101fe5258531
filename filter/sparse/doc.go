// Package sparse provides filters of one cell a key that keep positions, not cells.
package sparse

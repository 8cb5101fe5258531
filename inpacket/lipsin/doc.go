// Package lipsin makes the filters of LIPSIN (Jokela et al. 2009): of each link d
// codewords of m bits, k of them set, and of each tree the best of d filters.
package lipsin

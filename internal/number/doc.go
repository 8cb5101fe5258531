// Package number has the arithmetic of sizes that fold: a filter of m cells folds
// by the divisors of m, so a good size is one with many of them.
//
// All functions may be called from many goroutines at once.
package number

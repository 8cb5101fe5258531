// Package mem has what arrays of words in memory need when goroutines share them or when they are large: a lock
// for batches of additions, loads without order, and copies that the collector can interrupt.
package mem

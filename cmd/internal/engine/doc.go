// Package engine keeps named filters of any kind in memory: what every protocol of a
// node calls, once a batch. It knows no kind (it is given umbel.Variants), reads no clock
// (it is given one) and does no I/O: what changed is told to a [Journal].
package engine

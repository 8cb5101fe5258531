// Package sim runs a scheme over a network in memory and counts copies, false
// forwards, loops, duplicates and lost receivers.
package sim

// Package sim runs a scheme over a network in memory and counts copies, false
// forwards, loops, duplicates and lost receivers.
//
// [Wires] carries the packets of one tree, byte for byte, through the routers of a
// network, and gives a [Record] of it, or a [Trace] hop by hop. An [Experiment] does
// so for many trees and gives a [Result]; [Experiment.Stale] repeats it with more and
// more links that failed, or came, after the packets were written.
package sim

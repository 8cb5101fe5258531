// Command demo shows what a publication does: a set that changes, its publisher, and five subscribers in
// different circumstances, all in one process.
//
//	go run ./examples/demo [--plain | --json] [--for TIME] [--every TIME] [--keys NUMBER] [--changes NUMBER] [DIRECTORY]
//
// Nothing is simulated except the links. The publisher and the subscribers are those of package share.
// They use HTTP over loopback, and each subscriber has a connection of its own, which counts the bytes.
// On the way to two of them the connection limits or loses bytes (type link).
//
// # What is counted
//
// Received are all bytes that a subscriber's connections delivered, with the headers of HTTP.
//
// The comparison states what the same versions would have cost in other forms: for each version that a
// subscriber applied, the bytes of that version in the other form, without headers of HTTP. A version
// that it skipped costs nothing. Copies are those of the filter that the subscriber has, the whole one or a
// fold. Copies and lists are measured, and the size of a digest follows from the number of keys. Lists of
// more than maxListed keys are scaled from a part. Digests once an hour are scaled from the hour to the time
// that has passed; their answers are old, and the share of keys that they do not contain yet is computed
// from the measured rate of additions.
//
// Queries are made all the time. The rate of false positives is that of queries for keys that are not in
// the set. A key of the set must be found if it was in the version that answers, or if it has been in
// the set for longer than a head is valid; otherwise the answer counts as wrong.
package main

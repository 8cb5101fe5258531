// Package recovery fills an engine with the filters of the last snapshot and the changes in the log after
// it. If a copy cannot be read, it uses the previous one and more of the log.
//
// Unreadable data is an error. If the loss is accepted, the affected filters become incomplete: every
// query returns true until they are created again, because false might be wrong. Lost cells affect their
// filter; lost batches affect all filters that they may have changed. Filters that were created in a lost
// batch are unknown.
package recovery

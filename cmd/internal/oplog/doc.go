// Package oplog is the one log of a node: batches in a row, none of which is lost,
// reordered or altered without notice, and beside them blobs and a manifest that names
// those that count. It is embedded NATS JetStream, in process, with no port open, and
// the only package that knows so.
package oplog

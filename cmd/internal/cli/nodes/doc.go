// Package nodes has the verbs that run a node or work on a whole one: serve.go, list.go and transfer.go (filters by
// name), status.go, user.go, and backup.go (backups, snapshots, data directories).
package nodes

// Package node assembles the server: settings, listeners, users, store, metrics and signals. These parts
// don't depend on each other.
//
//   - config.go and load.go are the settings, from flags, a file and the environment; limits.go those that a reload changes
//   - run.go starts, reloads and ends a node, shutdown.go what happens at the end
//   - info.go and its neighbors fill INFO; package access has users and rights, glob patterns of names, metrics the metrics
package node

// Package node assembles the server: settings, listeners, users, store, metrics and signals. These parts
// don't depend on each other.
//
//   - config.go and load.go are the settings, from flags, a file and the environment; limits.go those that a reload changes
//   - run.go and reload.go start, reload and end a node; shutdown.go is the end
//   - serve.go and listen.go connect listeners to the protocols; replica.go and publications.go connect packages of room publish
//   - group.go makes a node a member of a group, place.go gives it a place in a slot map, role.go says who leads by both
//   - offline.go and restore.go check, back up and restore a data directory without a running node
//   - info.go, process.go and settings.go answer INFO, SAVE and CONFIG for package redis/builtin; users.go answers AUTH and checks rights
//   - memory.go, collect.go and usage_*.go limit and measure memory; refusals.go and watchdog.go report what an operator should notice
//
// The packages below this one don't import it, and the protocols use them: access has users and rights, glob the patterns of names,
// metrics what Prometheus reads (state.go the counters of connections and of the disk, survey.go those of filters).
package node

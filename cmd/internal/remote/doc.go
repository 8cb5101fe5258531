// Package remote asks a node over HTTP: what the verbs do with --addr.
package remote

// Package node puts a process together: configuration, listeners, users, store, metrics, signals.
package node

// Package node assembles the server: settings, listeners, users, store, metrics and signals. These parts
// don't depend on each other.
package node

// Package node puts a process together: settings, listeners, users, the store, metrics, signals.
// What it is made of knows nothing of the rest; here is where they meet.
package node

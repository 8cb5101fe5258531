// Package tree finds trees over topologies: which links a packet takes from its
// source to its receivers.
package tree

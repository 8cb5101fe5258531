// Package topology reads networks from files and makes them by rule: nodes,
// and links between them.
package topology

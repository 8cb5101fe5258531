// Package nodes contains the verbs for nodes: serve, node, backup and user. Begin with node.go, which lists those of a running
// node; serve.go starts one.
package nodes

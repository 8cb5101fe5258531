// Package service has what all servers of the programs share:
//
//   - [Listen] opens an address, with TLS if there is a [TLS]; its errors state the flag and what to do.
//   - [NewServer] makes an HTTP server with limits for slow clients, and a [Group] runs the servers of a program: if one
//     fails, the program ends; at a signal they answer what has begun.
//
// Package status shows one report as text, as JSON, and for Prometheus as rows of status.Metric.
//
// Package interrupt ends a program at a signal, package budget limits bytes that many take together, and package yamltext
// words the errors of files of settings. Begin with group.go.
package service

// Package report is how programs report to people and to other programs. A report is a record of log/slog: a level, a
// message, and attributes, such as its event, its error, or the number of messages that were omitted before it.
//
//   - sentence.go renders records for a terminal as sentences, or as objects of JSON, and an error on one line; it adds what to do if a disk is full
//   - log.go makes a log of records, with times; package internal/event of the library lists the events
//
// Package messagetest checks the texts of messages. The replies and messages of a node whose disk is full are in package durable/store.
package report

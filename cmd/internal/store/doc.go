// Package store keeps an engine's filters on disk: it is the engine's journal, writes what
// changed to the log in groups, copies filters to blobs so that the log can be cut, and
// makes the filters again at the start.
package store

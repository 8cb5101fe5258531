// Package backup writes the last snapshot and the log after it to one stream, verifies such streams, and
// restores directories from them.
package backup

package oplog

import "context"

// Open opens the log in a directory, which is made if it isn't there.
func Open(ctx context.Context, dir string, o Options) (Log, error) { panic("todo") }

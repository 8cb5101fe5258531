package wal

// Sync makes everything durable that was written before, with one operation, and returns the index
// of the last entry that is durable. If the disk reports an error, the log accepts nothing any more:
// the state of the disk is unknown until another process reads it.
func (l *Log) Sync() (uint64, error) {
	l.syncing.Lock()
	defer l.syncing.Unlock()
	durable, err := l.sync()
	return durable, l.outcome(err, "sync")
}

// sync is Sync. Called with syncing held.
func (l *Log) sync() (uint64, error) {
	if err := l.ready(); err != nil {
		return 0, err
	}
	l.mu.Lock()
	a, target, durable := l.active, l.tip, l.durable
	l.head.committed = l.commit
	l.mu.Unlock()
	if target == durable {
		return target.index, nil
	}
	if err := a.file.Sync(); err != nil {
		return 0, l.die(err)
	}
	// An entry is acknowledged after the head names it: after a kill the head is exact.
	l.head.durable = target
	if err := l.writeHead(); err != nil {
		return 0, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.durable = target
	return target.index, nil
}

// writeHead writes the head. Called with syncing held.
func (l *Log) writeHead() error {
	l.head.sequence++
	return l.headFile.write(l.head)
}

// seal writes two copies of the head and syncs them. Called with syncing held.
func (l *Log) seal(closed bool) error {
	l.head.closed = closed
	for range 2 {
		if err := l.writeHead(); err != nil {
			return err
		}
	}
	if err := l.headFile.sync(); err != nil {
		return l.die(err)
	}
	return nil
}

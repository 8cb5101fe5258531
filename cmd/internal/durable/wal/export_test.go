package wal

// Next returns the number of the batch that Propose takes next.
func (l *Log) Next() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.next()
}

package journal

import "github.com/umbel-filters/umbel/cmd/internal/engine"

// While a node follows another one, Run does not run and nothing is appended: the changes of the other node are written to
// the log of this one, and applied. Then Lead makes the journal continue after them.

// Applied notes that a change of another node was made. It is called for each, in their order.
func (j *Journal) Applied(pos engine.Position) { j.last.Store(uint64(pos)) }

// Followed notes that the changes that end in a batch of another node were applied, and that the batch, of the given size in
// bytes, is in the log. from is the number of the first batch with a part of a change that has not ended, 0 if there is none.
func (j *Journal) Followed(number, from uint64, bytes int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.kept.Store(j.last.Load())
	j.number, j.from = number, from
	j.commits++
	j.bytes += uint64(bytes)
}

// Lead makes Run write to a log that continues after the last batch of Followed. Changes that have not ended never do. It is called
// before Run.
func (j *Journal) Lead(l Log) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.log, j.from = l, 0
}

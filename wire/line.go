package wire

import (
	"runtime"
	"sync"
)

// line takes jobs through three steps: read, work and write. Reading and writing
// are done by the caller of run, one job at a time, in order; working on jobs by
// so many goroutines at once, in any order. Jobs are used again, so that they keep
// their memory.
type line[J any] struct {
	workers int
	read    func(*J) bool  // reports whether there was a job to read
	work    func(*J)       // may run alongside all three, for other jobs
	write   func(*J) error // ends the run if it fails
	idle    []*J
}

// run runs the line until all jobs are written, or one fails. Up to one worker it
// starts no goroutine, and in no case does it leave one behind.
func (l *line[J]) run() error {
	if n := crew(l.workers); n > 1 {
		return l.parallel(n)
	}
	j := l.take()
	defer l.put(j)
	for l.read(j) {
		l.work(j)
		if err := l.write(j); err != nil {
			return err
		}
	}
	return nil
}

// task is a job under way.
type task[J any] struct {
	job    *J
	worked chan struct{} // closed when it is
}

func (l *line[J]) parallel(workers int) error {
	var (
		most   = 2 * workers // tasks under way: each worker finds the next one ready
		todo   = make(chan task[J], most)
		flying []task[J] // in order
		group  sync.WaitGroup
	)
	defer group.Wait()
	defer close(todo)
	land := func() error {
		t := flying[0]
		flying = flying[1:]
		<-t.worked
		defer l.put(t.job)
		return l.write(t.job)
	}
	for started := 0; ; {
		if len(flying) == most {
			if err := land(); err != nil {
				return err
			}
		}
		j := l.take()
		if !l.read(j) {
			l.put(j)
			break
		}
		t := task[J]{j, make(chan struct{})}
		flying = append(flying, t)
		todo <- t
		if started < workers {
			started++
			group.Go(func() {
				for t := range todo {
					l.work(t.job)
					close(t.worked)
				}
			})
		}
	}
	for len(flying) > 0 {
		if err := land(); err != nil {
			return err
		}
	}
	return nil
}

func (l *line[J]) take() *J {
	n := len(l.idle)
	if n == 0 {
		return new(J)
	}
	j := l.idle[n-1]
	l.idle = l.idle[:n-1]
	return j
}

func (l *line[J]) put(j *J) { l.idle = append(l.idle, j) }

// crew returns how many goroutines work where so many are asked for: no more than two
// for each that can run at once. Others would gain nothing, and each has jobs of its own.
func crew(workers int) int { return max(1, min(workers, 2*runtime.GOMAXPROCS(0))) }

// batchBlocks is the most blocks that make a job: a coder is faster where it goes
// through several at once.
const batchBlocks = 8

// share returns how many blocks make a job where there are so many blocks and
// workers.
func share(blocks uint64, workers int) int {
	return int(max(1, min(batchBlocks, blocks/uint64(crew(workers)))))
}

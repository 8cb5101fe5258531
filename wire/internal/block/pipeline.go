package block

import (
	"runtime"
	"sync"
)

// Pipeline takes jobs through three steps. The caller of Run reads and writes one job at
// a time, in order; Workers goroutines work on jobs in any order. Jobs are reused, so
// they keep their memory.
type Pipeline[J any] struct {
	Workers int
	Read    func(*J) bool  // returns false if there are no more jobs
	Work    func(*J)       // runs concurrently with all steps of other jobs
	Write   func(*J) error // an error ends the run
	Pool    *sync.Pool     // of *J, or nil: keeps jobs, with their memory, between pipelines
	idle    []*J
}

// Run takes all jobs through the pipeline, and stops at the first error of Write. With at
// most one worker it starts no goroutine. It never leaves one behind.
func (p *Pipeline[J]) Run() error {
	if n := numWorkers(p.Workers); n > 1 {
		return p.parallel(n)
	}
	j := p.get()
	defer p.put(j)
	for p.Read(j) {
		p.Work(j)
		if err := p.Write(j); err != nil {
			return err
		}
	}
	return nil
}

// task is a job that a worker has or will get.
type task[J any] struct {
	job  *J
	done chan any // receives the value with which Work panicked, nil if it did not
}

// run calls work, and sends its panic to the goroutine that waits for the job, whose caller may recover.
func (t task[J]) run(work func(*J)) {
	defer func() { t.done <- recover() }()
	work(t.job)
}

func (p *Pipeline[J]) parallel(workers int) error {
	var (
		depth   = 2 * workers // so that each worker finds its next job ready
		todo    = make(chan task[J], depth)
		pending []task[J] // in order
		group   sync.WaitGroup
	)
	defer group.Wait()
	defer close(todo)
	finish := func() error {
		t := pending[0]
		pending = pending[1:]
		if panicked := <-t.done; panicked != nil {
			panic(panicked)
		}
		defer p.put(t.job)
		return p.Write(t.job)
	}
	for started := 0; ; {
		if len(pending) == depth {
			if err := finish(); err != nil {
				return err
			}
		}
		j := p.get()
		if !p.Read(j) {
			p.put(j)
			break
		}
		t := task[J]{j, make(chan any, 1)}
		pending = append(pending, t)
		todo <- t
		if started < workers {
			started++
			group.Go(func() {
				for t := range todo {
					t.run(p.Work)
				}
			})
		}
	}
	for len(pending) > 0 {
		if err := finish(); err != nil {
			return err
		}
	}
	return nil
}

func (p *Pipeline[J]) get() *J {
	n := len(p.idle)
	if n == 0 {
		if p.Pool != nil {
			return p.Pool.Get().(*J)
		}
		return new(J)
	}
	j := p.idle[n-1]
	p.idle = p.idle[:n-1]
	return j
}

func (p *Pipeline[J]) put(j *J) { p.idle = append(p.idle, j) }

// Close puts the jobs of a pipeline into its pool, each after a call of forget, which removes what
// must not be kept.
func (p *Pipeline[J]) Close(forget func(*J)) {
	for _, j := range p.idle {
		forget(j)
		p.Pool.Put(j)
	}
	p.idle = nil
}

// numWorkers bounds the number of workers by twice GOMAXPROCS. More gain nothing, and
// each has memory of its own.
func numWorkers(workers int) int { return max(1, min(workers, 2*runtime.GOMAXPROCS(0))) }

// maxBatch is the most blocks of a job. The coder is faster if it gets several at once.
const maxBatch = 8

// BatchSize returns the number of blocks of a job if there are n blocks in all.
func BatchSize(n uint64, workers int) int {
	return int(max(1, min(maxBatch, n/uint64(numWorkers(workers)))))
}

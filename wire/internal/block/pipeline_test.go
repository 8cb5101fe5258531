package block

import "testing"

// A panic of Work is one of Run, whose caller may recover it, with any number of workers.
func TestPanicOfWork(t *testing.T) {
	for _, workers := range []int{1, 4} {
		next := 0
		p := &Pipeline[int]{
			Workers: workers,
			Read:    func(j *int) bool { *j = next; next++; return next <= 100 },
			Work: func(j *int) {
				if *j == 40 {
					panic("job 40")
				}
			},
			Write: func(*int) error { return nil },
		}
		func() {
			defer func() {
				if v := recover(); v != "job 40" {
					t.Errorf("%d workers: recovered %v, want job 40", workers, v)
				}
			}()
			_ = p.Run()
			t.Errorf("%d workers: Run returned", workers)
		}()
	}
}

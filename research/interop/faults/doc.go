// Package faults tests that a node loses no acknowledged addition, or reports the loss, under
// faults: it is killed under load, the power of its disk is cut, its disk fills up or hangs,
// its files are damaged, or its clients send garbage or never read. It contains only tests.
// Some need root to mount a file system.
//
//	cd research/interop && go test ./faults                         # a minute
//	go test ./faults -run TestKill$ -kills 200 -timeout 1h
//	go test ./faults -run TestPowerCut -cuts 40 -timeout 1h
//	go test ./faults -run TestDamage -flips 50 -timeout 1h
//	go test ./faults -run 'TestGarbage|TestIdle|TestClient' -garbage 1m -idle 10000 -patient
package faults

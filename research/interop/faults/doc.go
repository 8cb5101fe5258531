// Package faults treats a node badly and sees that it doesn't lie: it is killed under load,
// the power of its disk is cut, its disk fills or hangs, its files are damaged, its clients send
// garbage or never read. It has tests only. Some need root, to have disks of their own.
//
//	cd interop && go test ./faults                                  # a minute
//	go test ./faults -run TestKill$ -kills 200 -timeout 1h
//	go test ./faults -run TestPowerCut -cuts 40 -timeout 1h
//	go test ./faults -run TestDamage -flips 50 -timeout 1h
//	go test ./faults -run 'TestGarbage|TestIdle|TestClient' -garbage 1m -idle 10000 -patient
package faults

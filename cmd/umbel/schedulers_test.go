package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/internal/await"
	"github.com/umbel-filters/umbel/internal/freeport"
)

// blocks returns the examples below a heading of docs/scale.md.
func blocks(t *testing.T, heading string) []string {
	t.Helper()
	page, err := os.ReadFile("../../docs/scale.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(page), "\n### "+heading+"\n")
	if !ok {
		t.Fatalf("docs/scale.md has no heading %s", heading)
	}
	section, _, _ = strings.Cut(section, "\n### ")
	var list []string
	for i, text := range strings.Split(section, "```\n") {
		if i%2 == 1 {
			list = append(list, text)
		}
	}
	return list
}

// installed skips the test unless a program of another project is installed.
func installed(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed", name)
	}
	return path
}

// schedulerDir returns a directory with files of keys and the filter of all of them.
func schedulerDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for file := range 3 {
		var b bytes.Buffer
		for i := range 20_000 * file * file {
			fmt.Fprintf(&b, "%d of file %d\n", i, file)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("keys-%d.txt", file)), b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	inDir(t, dir, "umbel make -q -o one.umb --keys 1e6 keys-*.txt")
	return dir
}

// inDir runs a command of a shell in a directory.
func inDir(t *testing.T, dir, command string, env ...string) string {
	t.Helper()
	cmd := exec.Command("sh", "-ec", command)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s\n%s%v", command, out, err)
	}
	return string(out)
}

// The parts that GNU parallel makes are the filter.
func TestParallel(t *testing.T) {
	path := installed(t, "parallel")
	if out, _ := exec.Command(path, "--version").Output(); !bytes.Contains(out, []byte("GNU parallel")) {
		t.Skip("another program named parallel is installed")
	}
	dir := schedulerDir(t)
	inDir(t, dir, blocks(t, "GNU parallel")[0]+"cmp one.umb filter.umb", "HOME="+dir)
}

// slurmConf is a cluster of one node.
const slurmConf = `ClusterName=test
SlurmctldHost=localhost(127.0.0.1)
SlurmctldAddr=127.0.0.1
SlurmctldPort=%d
SlurmdPort=%d
SlurmUser=%s
SlurmdUser=%[3]s
AuthType=auth/none
CredType=cred/none
StateSaveLocation=%[4]s/state
SlurmdSpoolDir=%[4]s/spool
SlurmctldPidFile=%[4]s/ctld.pid
SlurmdPidFile=%[4]s/d.pid
SlurmctldLogFile=%[4]s/ctld.log
SlurmdLogFile=%[4]s/d.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1
MpiDefault=none
ReturnToService=2
NodeName=localhost NodeAddr=127.0.0.1 CPUs=1 State=UNKNOWN
PartitionName=all Nodes=localhost Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:8
`

// The parts that jobs of Slurm make are the filter.
func TestSlurm(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a cluster of one node")
	}
	controller, node := installed(t, "slurmctld"), installed(t, "slurmd")
	installed(t, "sbatch")
	if _, err := net.LookupHost("localhost"); err != nil {
		t.Skip(err)
	}
	self, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	dir := schedulerDir(t)
	for _, name := range []string{"state", "spool"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	conf := filepath.Join(dir, "slurm.conf")
	ports, err := freeport.Ports(2)
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(slurmConf, ports, ports+1, self.Username, dir)
	if err := os.WriteFile(conf, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	env := "SLURM_CONF=" + conf
	for _, command := range [][]string{{controller, "-D"}, {node, "-D", "-N", "localhost"}} {
		daemon := exec.Command(command[0], command[1:]...)
		daemon.Env = append(os.Environ(), env)
		var out bytes.Buffer
		daemon.Stdout, daemon.Stderr = &out, &out
		if err := daemon.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = daemon.Process.Kill()
			_ = daemon.Wait()
			if t.Failed() {
				t.Logf("%s:\n%s", command[0], out.String())
			}
		})
	}
	await.True(t, "the node is idle", func() bool {
		cmd := exec.Command("sinfo", "--noheader", "--format=%T")
		cmd.Env = append(os.Environ(), env)
		out, _ := cmd.Output()
		return strings.TrimSpace(string(out)) == "idle"
	})
	list := blocks(t, "Slurm")
	if err := os.WriteFile(filepath.Join(dir, "make.sh"), []byte(list[0]), 0o755); err != nil {
		t.Fatal(err)
	}
	inDir(t, dir, list[1]+"cmp one.umb filter.umb", env)
}

// The examples in Python have no errors of syntax, and that of Spark makes the filter, with partitions in place of an RDD.
func TestPythonSchedulers(t *testing.T) {
	installed(t, "python3")
	dir := schedulerDir(t)
	spark := strings.ReplaceAll(blocks(t, "Spark")[0], "/shared/", dir+"/")
	if err := os.WriteFile(filepath.Join(dir, "spark.py"), []byte(spark+`

class Keys:
    def repartition(self, n):
        self.n = n
        return self

    def mapPartitionsWithIndex(self, f):
        lines = [line for file in range(3) for line in open(f"keys-{file}.txt").read().splitlines()]
        self.paths = [path for i in range(self.n) for path in f(i, lines[i :: self.n])]
        return self

    def collect(self):
        return self.paths


main(Keys())
`), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "airflow.py"), []byte(blocks(t, "Airflow")[0]), 0o666); err != nil {
		t.Fatal(err)
	}
	inDir(t, dir, "python3 -m py_compile airflow.py spark.py && python3 spark.py && cmp one.umb filter.umb")
}

// The command of the pods of the Indexed Job makes the filter.
func TestKubernetesJob(t *testing.T) {
	manifest := blocks(t, "Kubernetes")[0]
	_, command, ok := strings.Cut(manifest, "            - umbel make")
	command, _, _ = strings.Cut(command, "\n")
	if !ok {
		t.Fatal("the manifest has no command")
	}
	dir := schedulerDir(t)
	for i := range 8 {
		inDir(t, dir, "umbel make"+command, fmt.Sprintf("JOB_COMPLETION_INDEX=%d", i))
	}
	inDir(t, dir, "umbel merge -q part*.umb --expect 8 -o filter.umb && cmp one.umb filter.umb")
}

package snapfile_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/durable/disk/disktest"
	"github.com/umbel-filters/umbel/cmd/internal/durable/snapfile"
	"github.com/umbel-filters/umbel/internal/race"
)

// damages returns the ways in which a file can be damaged.
func damages(d *disktest.Disk, name string) map[string]func(*disktest.Disk) {
	size := len(d.File(name))
	all := map[string]func(*disktest.Disk){
		"lost":  func(d *disktest.Disk) { d.Lose(name) },
		"empty": func(d *disktest.Disk) { d.SetFile(name, nil) },
		"cut":   func(d *disktest.Disk) { d.SetFile(name, d.File(name)[:size-1]) },
		"longer": func(d *disktest.Disk) {
			d.Change(name, func(b []byte) []byte { return append(b, make([]byte, 2<<20)...) })
		},
		"zeros": func(d *disktest.Disk) {
			d.Change(name, func(b []byte) []byte { clear(b[len(b)/2:]); return b })
		},
	}
	for bit := 0; bit < 8*size; bit += 37 {
		all["flipped"+string(rune('a'+bit))] = func(d *disktest.Disk) { d.Flip(name, bit) }
	}
	return all
}

// If one copy of a manifest is damaged in any way, it is found, and the other copy is used. If both are
// damaged, the directory still shows which snapshot is lost, and the previous one is complete.
func TestDamagedManifests(t *testing.T) {
	race.Skip(t, "varies damage and failures, in one goroutine")
	d := disktest.NewDisk()
	dir := open(t, d)
	must(t, snapshot(dir, 1, 2))
	must(t, snapshot(dir, 2, 2))
	var copies []string
	for _, name := range d.Names() {
		if strings.HasPrefix(name, "manifest-0000000000000002") {
			copies = append(copies, name)
		}
	}
	if len(copies) != snapfile.Copies {
		t.Fatalf("copies %v", copies)
	}
	for i, name := range copies {
		for what, damage := range damages(d, name) {
			c := d.Clone()
			damage(c)
			dir := open(t, c)
			list, err := dir.Manifests()
			must(t, err)
			if len(list) != 2 || list[0].Number != 2 || list[0].Whole != 1 || list[0].Err == nil || list[1].Err != nil {
				t.Fatalf("%s %s: %+v", name, what, list)
			}
			check(t, dir, list[0])

			if what == "lost" {
				c.SetFile(copies[1-i], c.File(copies[1-i])[:5]) // without a name nothing is left of it
			} else {
				c.Lose(copies[1-i])
			}
			dir = open(t, c)
			list, err = dir.Manifests()
			must(t, err)
			if len(list) != 2 || list[0].Number != 2 || list[0].Position != 200 || list[0].Data != nil || !errors.Is(list[0].Err, snapfile.ErrDamaged) {
				t.Fatalf("%s %s, and the other copy: %+v", name, what, list)
			}
			check(t, dir, list[1])
			if dir.LastNumber() != 2 {
				t.Errorf("last number %d", dir.LastNumber())
			}
			must(t, snapshot(dir, 3, 2))
			dir = open(t, c)
			if list, err = dir.Manifests(); err != nil || len(list) != 2 || list[0].Number != 3 || list[0].Whole != 2 {
				t.Fatalf("%s %s: after the next snapshot: %+v, %v", name, what, list, err)
			}
		}
	}
}

// A copy with the contents of another manifest is not taken for whole.
func TestSwappedManifests(t *testing.T) {
	d := disktest.NewDisk()
	dir := open(t, d)
	must(t, snapshot(dir, 1, 2))
	must(t, snapshot(dir, 2, 2))
	names := d.Names() // two copies of 1, two of 2
	d.SetFile(names[2], d.File(names[0]))
	list, err := open(t, d).Manifests()
	must(t, err)
	if list[0].Number != 2 || list[0].Whole != 1 {
		t.Errorf("%+v", list)
	}
}

// A manifest that the disk fails to read may be undamaged: only the other copy helps.
func TestUnreadableManifests(t *testing.T) {
	d := disktest.NewDisk()
	must(t, snapshot(open(t, d), 1, 2))
	bad := errors.New("bad sector")
	names := d.Names()
	for _, broken := range [][]string{names[:1], names[1:2], names[:2]} {
		d.Before(func(op disktest.Op, name string) error {
			for _, b := range broken {
				if op == disktest.Read && name == b {
					return bad
				}
			}
			return nil
		})
		list, err := open(t, d).Manifests()
		if len(broken) == 2 {
			if !errors.Is(err, bad) {
				t.Errorf("error %v, want %v", err, bad)
			}
			continue
		}
		if err != nil || len(list) != 1 || list[0].Whole != 1 || !errors.Is(list[0].Err, bad) {
			t.Errorf("%+v, %v", list, err)
		}
	}
}

// A crash or a power cut before any step leaves the last published snapshot, or the next one, whole.
// A start removes the rest.
func TestCrashes(t *testing.T) {
	start := disktest.NewDisk()
	dir := open(t, start)
	must(t, snapshot(dir, 1, 2))
	must(t, snapshot(dir, 2, 35))
	seeds := uint64(6)
	if testing.Short() {
		seeds = 2
	}
	cuts, interrupted := 0, 0
	for step := 1; ; step++ {
		done := false
		for seed := range seeds + 1 {
			d := start.Clone()
			dir := open(t, d)
			calls := 0
			d.Before(func(disktest.Op, string) error {
				if calls++; calls == step {
					if seed == 0 {
						d.Kill()
					} else {
						d.PowerCut(rand.New(rand.NewPCG(seed, 0)))
					}
				}
				return nil
			})
			err := putAndPublish(dir, 3, 35)
			oldest := uint64(2)
			if err == nil {
				oldest, err = 3, sweep(dir, 3)
			}
			d.Before(nil)
			done = calls < step
			if done {
				must(t, err)
			}
			dir = open(t, d)
			list, err := dir.Manifests()
			must(t, err)
			// The newest one that has a whole copy, and all of its pieces.
			if len(list) == 0 || list[0].Whole == 0 || list[0].Number < oldest {
				t.Fatalf("step %d, seed %d: %+v", step, seed, list)
			}
			for _, m := range list {
				if m.Whole > 0 {
					check(t, dir, m)
				}
				if seed == 0 && m.Err != nil { // the process was killed, and nothing is damaged
					t.Errorf("step %d: manifest %d: %v", step, m.Number, m.Err)
				}
				if m.Interrupted {
					interrupted++
					must(t, dir.Complete(m))
				}
			}
			for _, m := range again(t, dir) {
				if m.Interrupted || seed == 0 && m.Whole != 2 {
					t.Errorf("step %d: completed: %+v", step, m)
				}
			}
			must(t, snapshot(dir, 5, 3))
			must(t, snapshot(dir, 6, 3))
			manifests(t, dir, 6, 5)
			if n := len(d.Names()); n != 2*3+4 {
				t.Fatalf("step %d, seed %d: %d files are left: %v", step, seed, n, d.Names())
			}
			cuts++
		}
		if done {
			t.Logf("%d steps, %d cuts, %d interrupted manifests", step-1, cuts, interrupted)
			if interrupted < 2 { // one that is written, one that is removed
				t.Errorf("%d manifests were interrupted", interrupted)
			}
			return
		}
	}
}

func again(t *testing.T, dir *snapfile.Dir) []snapfile.Manifest {
	t.Helper()
	list, err := dir.Manifests()
	must(t, err)
	return list
}

// A missing copy is damage unless a temporary file contains it.
func TestMissingCopyIsDamage(t *testing.T) {
	for name, damage := range map[string]func(d *disktest.Disk, first, second string){
		"removed":                    func(d *disktest.Disk, _, second string) { d.Lose(second) },
		"and another temporary file": func(d *disktest.Disk, _, second string) { d.Lose(second); d.SetFile("manifest-2.tmp", []byte("x")) },
		"altered, and temporary files": func(d *disktest.Disk, first, second string) {
			d.SetFile("manifest-2.tmp", d.File(first))
			d.Flip(second, 99)
		},
		"the temporary file of another": func(d *disktest.Disk, _, second string) {
			d.SetFile("manifest-2.tmp", d.File(d.Names()[0]))
			d.Lose(second)
		},
	} {
		d := disktest.NewDisk()
		dir := open(t, d)
		must(t, snapshot(dir, 1, 2))
		must(t, snapshot(dir, 2, 2))
		damage(d, d.Names()[2], d.Names()[3])
		if m := again(t, open(t, d))[0]; m.Err == nil || m.Interrupted || m.Whole != 1 || m.Number != 2 {
			t.Errorf("%s: %+v", name, m)
		}
	}
	d := disktest.NewDisk()
	must(t, snapshot(open(t, d), 1, 2))
	second := d.Names()[1]
	d.SetFile("manifest-2.tmp", d.File(second))
	d.Lose(second)
	dir, err := snapfile.Open(d.Dir(), snapfile.Options{ReadOnly: true})
	must(t, err)
	m := again(t, dir)[0]
	if m.Err != nil || !m.Interrupted || m.Whole != 1 {
		t.Errorf("interrupted: %+v", m)
	}
	if err := dir.Complete(m); !errors.Is(err, snapfile.ErrReadOnly) {
		t.Errorf("error %v, want %v", err, snapfile.ErrReadOnly)
	}
}

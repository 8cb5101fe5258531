package snapfile_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/durable/disk/disktest"
	"github.com/umbel-filters/umbel/cmd/internal/durable/snapfile"
	"github.com/umbel-filters/umbel/cmd/internal/service/budget"
)

func open(t testing.TB, d *disktest.Disk) *snapfile.Dir {
	t.Helper()
	dir, err := snapfile.Open(d.Dir(), snapfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// contents returns what snapshot number has in its piece i.
func contents(number uint64, i int) []byte {
	return bytes.Repeat([]byte(fmt.Sprintf("%d/%d ", number, i)), 50)
}

// snapshot puts pieces and publishes a manifest with their numbers. It removes what snapshot
// number-2 and older ones needed.
func snapshot(dir *snapfile.Dir, number uint64, pieces int) error {
	if err := putAndPublish(dir, number, pieces); err != nil {
		return errors.Join(err, dir.Discard())
	}
	return sweep(dir, number)
}

func sweep(dir *snapfile.Dir, number uint64) error {
	keep := []uint64{number, number - 1}
	list, err := dir.Manifests()
	if err != nil {
		return err
	}
	needed := map[uint64]bool{}
	for _, m := range list {
		if slices.Contains(keep, m.Number) {
			for _, piece := range piecesOf(m) {
				needed[piece] = true
			}
		}
	}
	return dir.Sweep(keep, func(piece uint64) bool { return needed[piece] })
}

func putAndPublish(dir *snapfile.Dir, number uint64, pieces int) error {
	var list []byte
	for i := range pieces {
		piece, err := dir.Put(contents(number, i))
		if err != nil {
			return err
		}
		list = binary.LittleEndian.AppendUint64(list, piece)
	}
	return dir.Publish(number, 100*number, list)
}

func piecesOf(m snapfile.Manifest) (list []uint64) {
	for b := m.Data; len(b) >= 8; b = b[8:] {
		list = append(list, binary.LittleEndian.Uint64(b))
	}
	return list
}

// check fails the test unless all pieces of a manifest are as they were put.
func check(t *testing.T, dir *snapfile.Dir, m snapfile.Manifest) {
	t.Helper()
	if m.Position != 100*m.Number {
		t.Errorf("manifest %d has position %d", m.Number, m.Position)
	}
	for i, piece := range piecesOf(m) {
		if b, err := dir.Piece(piece); err != nil || !bytes.Equal(b, contents(m.Number, i)) {
			t.Errorf("manifest %d, piece %d: %.20q, %v", m.Number, i, b, err)
		}
	}
}

// manifests checks that there are whole manifests with these numbers and no others.
func manifests(t *testing.T, dir *snapfile.Dir, want ...uint64) {
	t.Helper()
	list, err := dir.Manifests()
	must(t, err)
	var got []uint64
	for _, m := range list {
		got = append(got, m.Number)
		if m.Whole != snapfile.Copies || m.Err != nil {
			t.Errorf("manifest %d: %d copies are whole, %v", m.Number, m.Whole, m.Err)
		}
		check(t, dir, m)
	}
	if !slices.Equal(got, want) {
		t.Errorf("manifests %v, want %v", got, want)
	}
}

func TestGenerations(t *testing.T) {
	d := disktest.NewDisk()
	dir := open(t, d)
	manifests(t, dir)
	must(t, snapshot(dir, 1, 3))
	manifests(t, dir, 1)
	for number := uint64(2); number < 9; number++ {
		must(t, snapshot(dir, number, 3))
		manifests(t, dir, number, number-1)
		if number%3 == 0 {
			dir = open(t, d)
		}
		if n := len(dir.Pieces()); n != 6 {
			t.Errorf("%d pieces, want those of two snapshots", n)
		}
		if dir.LastNumber() != number {
			t.Errorf("last number %d, want %d", dir.LastNumber(), number)
		}
		if dir.Bytes() != uint64(d.Used()) {
			t.Errorf("%d bytes, want %d", dir.Bytes(), d.Used())
		}
	}
	if err := dir.Publish(8, 1, nil); err == nil {
		t.Error("a manifest was replaced")
	}
}

func TestPieces(t *testing.T) {
	dir := open(t, disktest.NewDisk())
	for _, n := range []int{0, snapfile.MaxPiece + 1} {
		if _, err := dir.Put(make([]byte, n)); err == nil {
			t.Errorf("a piece of %d bytes was accepted", n)
		}
	}
	long := bytes.Repeat([]byte("x"), snapfile.MaxPiece)
	piece, err := dir.Put(long)
	must(t, err)
	if b, err := dir.Piece(piece); err != nil || !bytes.Equal(b, long) || dir.Size(piece) != snapfile.MaxPiece {
		t.Errorf("%d bytes, %v, size %d", len(b), err, dir.Size(piece))
	}
	part := make([]byte, 10)
	if n, err := dir.ReadAt(piece, part, 5); err != nil || n != 10 || string(part) != "xxxxxxxxxx" {
		t.Errorf("a part of %d bytes: %q, %v", n, part, err)
	}
	if n, err := dir.ReadAt(piece, part, snapfile.MaxPiece-3); err != nil || n != 3 {
		t.Errorf("a part beyond the end: %d bytes, %v", n, err)
	}
	if _, err := dir.ReadAt(piece+1, part, 0); !errors.Is(err, snapfile.ErrNotFound) {
		t.Errorf("a part of a piece that does not exist: %v", err)
	}
	if _, err := dir.Piece(piece + 1); !errors.Is(err, snapfile.ErrNotFound) {
		t.Errorf("a piece that does not exist: %v", err)
	}
	if err := dir.Publish(1, 1, make([]byte, snapfile.MaxManifest)); err == nil {
		t.Error("a manifest without room for its sum was accepted")
	}
	must(t, dir.Discard())
	if len(dir.Pieces()) != 0 || dir.Bytes() != 0 {
		t.Errorf("pieces %v, %d bytes after Discard", dir.Pieces(), dir.Bytes())
	}
}

func TestReadOnly(t *testing.T) {
	d := disktest.NewDisk()
	must(t, snapshot(open(t, d), 1, 2))
	names := d.Names()
	dir, err := snapfile.Open(d.Dir(), snapfile.Options{ReadOnly: true})
	must(t, err)
	manifests(t, dir, 1)
	_, put := dir.Put([]byte("x"))
	for _, err := range []error{put, dir.Publish(2, 1, nil), dir.Sweep(nil, func(uint64) bool { return false })} {
		if !errors.Is(err, snapfile.ErrReadOnly) {
			t.Errorf("error %v, want %v", err, snapfile.ErrReadOnly)
		}
	}
	if !slices.Equal(d.Names(), names) {
		t.Errorf("files %v, want %v", d.Names(), names)
	}
}

// A disk that fills during a snapshot is as before after Discard, and the next snapshot has room.
func TestFullDisk(t *testing.T) {
	d := disktest.NewDisk()
	dir := open(t, d)
	must(t, snapshot(dir, 1, 40))
	names, used := d.Names(), int64(dir.Bytes())
	for room := used; ; room += 977 {
		d.Limit(room)
		if err := snapshot(dir, 2, 40); err == nil {
			break
		} else if !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
		list, err := dir.Manifests()
		must(t, err)
		if list[len(list)-1].Number != 1 {
			t.Fatalf("%d bytes more: manifests %+v", room-used, list)
		}
		check(t, dir, list[len(list)-1])
		if len(list) > 1 { // the first copy had room
			break
		}
		if now := slices.DeleteFunc(d.Names(), func(name string) bool { return strings.HasSuffix(name, ".tmp") }); !slices.Equal(now, names) {
			t.Fatalf("%d bytes more: files %v, want %v", room-used, now, names)
		}
	}
	d.Limit(-1)
	must(t, snapshot(dir, 3, 40))
	must(t, snapshot(dir, 4, 40))
	manifests(t, dir, 4, 3)
}

// The reserve takes room until it is released, outlasts the process, and is not part of a snapshot.
func TestReserve(t *testing.T) {
	d := disktest.NewDisk()
	d.Limit(10_000)
	dir := open(t, d)
	must(t, dir.Reserve(8000))
	if err := snapshot(dir, 1, 20); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("error %v, want %v", err, syscall.ENOSPC)
	}
	dir = open(t, d)
	must(t, dir.Release())
	must(t, snapshot(dir, 2, 20))
	used := d.Used()
	if err := dir.Reserve(8000); !errors.Is(err, syscall.ENOSPC) || d.Used() != used {
		t.Errorf("error %v, want %v; %d bytes used, want %d", err, syscall.ENOSPC, d.Used(), used)
	}
	d.Limit(-1)
	must(t, dir.Reserve(8000))
	must(t, dir.Reserve(8000))
	if d.Used() != used+8000 || dir.Bytes() != uint64(used) {
		t.Errorf("%d bytes used, %d in snapshots, want %d and %d", d.Used(), dir.Bytes(), used+8000, used)
	}
	must(t, dir.Release())
	must(t, dir.Release())

	disk, err := snapfile.OpenDir(t.TempDir(), snapfile.Options{})
	must(t, err)
	must(t, disk.Reserve(3<<20))
	piece, err := disk.Put([]byte("0123456789"))
	must(t, err)
	disk.Prefetch(piece)
	disk.Prefetch(piece + 1)
	b := make([]byte, 4)
	if n, err := disk.ReadAt(piece, b, 8); err != nil || n != 2 || string(b[:n]) != "89" {
		t.Errorf("a part: %q, %v", b[:n], err)
	}
	must(t, disk.Discard())
	must(t, disk.Release())
}

// Pieces, manifests and the reserve take from one limit, and give back what is removed.
func TestDiskLimit(t *testing.T) {
	limit := budget.New(10_000)
	d := disktest.NewDisk()
	dir, err := snapfile.Open(d.Dir(), snapfile.Options{Disk: limit})
	must(t, err)
	used := func() {
		t.Helper()
		if got, want := limit.Used(), uint64(d.Used()); got != want {
			t.Errorf("%d bytes are taken, the files have %d", got, want)
		}
	}
	must(t, dir.Reserve(3000))
	for range 6 {
		_, err = dir.Put(make([]byte, 1000))
		must(t, err)
	}
	used()
	if _, err = dir.Put(make([]byte, 1001)); !errors.Is(err, budget.ErrDisk) {
		t.Errorf("a byte too many: %v", err)
	}
	if err = dir.Publish(1, 0, make([]byte, 600)); !errors.Is(err, budget.ErrDisk) {
		t.Errorf("a manifest that is too long: %v", err)
	}
	used() // the pieces are gone
	_, err = dir.Put(make([]byte, 1000))
	must(t, err)
	must(t, dir.Publish(1, 0, make([]byte, 600)))
	used()
	must(t, dir.Release())
	used()
	if err = dir.Reserve(9000); !errors.Is(err, budget.ErrDisk) {
		t.Errorf("a reserve that is too long: %v", err)
	}
	must(t, dir.Sweep(nil, func(uint64) bool { return false }))
	if used(); d.Used() != 0 {
		t.Errorf("%d bytes are left", d.Used())
	}
}

// The cost of a start depends on the files that exist, not on those that ever existed. It lists the
// directory once and opens nothing; then the manifests are read. UMBEL_CHURN=10000000 removes as many
// pieces.
func TestStartAfterChurn(t *testing.T) {
	churn, live := 20_000, 20
	if s := os.Getenv("UMBEL_CHURN"); s != "" {
		var err error
		churn, err = strconv.Atoi(s)
		must(t, err)
	}
	d := disktest.NewDisk()
	dir := open(t, d)
	number := uint64(0)
	for written := 0; written < churn; written += live {
		number++
		must(t, snapshot(dir, number, live))
	}
	calls := map[disktest.Op]int{}
	d.Before(func(op disktest.Op, _ string) error { calls[op]++; return nil })
	dir = open(t, d)
	if len(dir.Pieces()) != 2*live || len(d.Names()) != 2*live+4 {
		t.Errorf("%d pieces, %d files, want %d and %d", len(dir.Pieces()), len(d.Names()), 2*live, 2*live+4)
	}
	if calls[disktest.List] != 1 || len(calls) != 1 {
		t.Errorf("calls %v, want one List", calls)
	}
	_, err := dir.Manifests()
	must(t, err)
	if calls[disktest.Open] != 4 || calls[disktest.Read] != 4 {
		t.Errorf("calls %v for two manifests of two copies", calls)
	}
}

func TestOS(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data", "snapshots")
	if dir, err := snapfile.OpenDir(path, snapfile.Options{ReadOnly: true}); err != nil || dir.LastNumber() != 0 {
		t.Errorf("a missing directory: %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v, want %v", err, os.ErrNotExist)
	}
	dir, err := snapfile.OpenDir(path, snapfile.Options{})
	must(t, err)
	must(t, os.WriteFile(filepath.Join(path, "README"), nil, 0o600))
	must(t, os.Mkdir(filepath.Join(path, "other"), 0o700))
	for number := uint64(1); number < 5; number++ {
		must(t, snapshot(dir, number, 100))
	}
	must(t, os.WriteFile(filepath.Join(path, "manifest-1.tmp"), nil, 0o600))
	dir, err = snapfile.OpenDir(path, snapfile.Options{})
	must(t, err)
	manifests(t, dir, 4, 3)
	must(t, snapshot(dir, 5, 100))
	entries, err := os.ReadDir(path)
	must(t, err)
	if len(entries) != 206 { // 2 manifests of 2 copies, their pieces, a directory and a file of somebody else
		t.Errorf("%d files", len(entries))
	}
	for _, e := range entries {
		if info, err := e.Info(); err != nil || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", e.Name(), info.Mode(), err)
		}
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

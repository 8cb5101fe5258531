package mapped

import (
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// mapFile maps the first n bytes of a file.
func mapFile(f *os.File, n int) (mapping, error) {
	h, err := windows.CreateFileMapping(windows.Handle(f.Fd()), nil, windows.PAGE_READONLY, 0, 0, nil)
	if err != nil {
		return nil, err
	}
	defer windows.CloseHandle(h) // the view keeps it open
	at, err := windows.MapViewOfFile(h, windows.FILE_MAP_READ, 0, 0, uintptr(n))
	if err != nil {
		return nil, err
	}
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&at)), n), nil
}

// prefetch does nothing.
func (m mapping) prefetch() {}

func (m mapping) close() error {
	if m == nil {
		return nil
	}
	return windows.UnmapViewOfFile(uintptr(unsafe.Pointer(unsafe.SliceData(m))))
}

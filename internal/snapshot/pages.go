// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
)

// The layout of a bbolt file, in its writer's byte order (bbolt: internal/common).
const (
	pageHeader    = 16 // id 8, flags 2, count 2, overflow 4
	pageElement   = 16 // of branches: pos 4, ksize 4, page 8; of leaves: flags 4, pos 4, ksize 4, vsize 4
	bucketHeader  = 16 // root page 8, sequence 8
	metaSize      = 64
	metaSumAt     = 56
	metaMagic     = 0xED0CDAED
	metaVersion   = 2
	branchPage    = 0x01
	leafPage      = 0x02
	freelistPage  = 0x10
	bucketElement = 0x01
	noFreelist    = ^uint64(0)
	manyFree      = 0xFFFF // the first entry has the count instead
)

// checkPages follows every page reference from the root of a database. It returns an error
// for a page that can't be read and for keys that are out of order. bbolt's own check isn't
// enough: bbolt maps the file into memory, and an invalid page number would crash this
// process before that check reports it. So would keys out of order in a database without a
// list of free pages, such as etcd's. checkPages ignores the content.
func checkPages(ctx context.Context, r io.ReaderAt, size int64) error {
	m, err := readMeta(r, size)
	if err != nil {
		return err
	}
	w := pageWalk{r: r, meta: m, seen: map[uint64]bool{}}
	if err := w.freelist(); err != nil {
		return err
	}
	return w.tree(ctx, m.root)
}

// pageWalk visits pages, each of them once.
type pageWalk struct {
	r    io.ReaderAt
	meta pagesMeta
	seen map[uint64]bool
}

// page is a page with its overflow pages.
type page struct {
	id     uint64
	flags  uint16
	count  int
	length int64
}

// page reads the header of a page and marks the page as visited.
func (w *pageWalk) page(id uint64) (page, error) {
	if id < 2 || id >= w.meta.end {
		return page{}, fmt.Errorf("page %d is referenced, but there are only %d pages", id, w.meta.end)
	}
	if w.seen[id] {
		return page{}, fmt.Errorf("page %d is referenced twice", id)
	}
	w.seen[id] = true
	b, err := w.read(id, 0, pageHeader)
	if err != nil {
		return page{}, err
	}
	order := binary.NativeEndian
	p := page{id: id, flags: order.Uint16(b[8:]), count: int(order.Uint16(b[10:]))}
	pages := uint64(order.Uint32(b[12:])) + 1
	if own := order.Uint64(b); own != id {
		return page{}, fmt.Errorf("page %d has the number %d in its header", id, own)
	}
	if pages > w.meta.end-id {
		return page{}, fmt.Errorf("page %d spans %d pages, but there are only %d pages", id, pages, w.meta.end)
	}
	for next := id + 1; next < id+pages; next++ {
		if w.seen[next] {
			return page{}, fmt.Errorf("page %d is referenced twice", next)
		}
		w.seen[next] = true
	}
	p.length = int64(pages) * int64(w.meta.pageSize) //nolint:gosec // within the file
	return p, nil
}

func (w *pageWalk) read(id uint64, at, size int64) ([]byte, error) {
	b := make([]byte, size)
	if _, err := w.r.ReadAt(b, int64(id)*int64(w.meta.pageSize)+at); err != nil { //nolint:gosec // within the file
		return nil, fmt.Errorf("read page %d: %w", id, err)
	}
	return b, nil
}

// freelist checks the list of free pages.
func (w *pageWalk) freelist() error {
	if w.meta.freelist == noFreelist {
		return nil
	}
	p, err := w.page(w.meta.freelist)
	if err != nil {
		return err
	}
	if p.flags != freelistPage {
		return fmt.Errorf("page %d should be the list of free pages and has flags %#x", p.id, p.flags)
	}
	need := uint64(p.count) //nolint:gosec // never negative
	if p.count == manyFree {
		b, err := w.read(p.id, pageHeader, 8)
		if err != nil {
			return err
		}
		need = binary.NativeEndian.Uint64(b) + 1
	}
	if need > uint64(p.length-pageHeader)/8 { //nolint:gosec // at least a page
		return fmt.Errorf("page %d is too small for its list of %d free pages", p.id, need)
	}
	return nil
}

// subtree is a page and the range of keys that it and the pages below it may have: from
// least, below end. nil means no limit.
type subtree struct {
	page       uint64
	least, end []byte
}

// tree visits all pages below root. It doesn't recurse, since a corrupt tree can be deep.
func (w *pageWalk) tree(ctx context.Context, root uint64) error {
	for todo := []subtree{{page: root}}; len(todo) > 0; {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		now := todo[len(todo)-1]
		p, err := w.page(now.page)
		if err != nil {
			return err
		}
		todo = todo[:len(todo)-1]
		if p.flags != branchPage && p.flags != leafPage {
			return fmt.Errorf("page %d should hold keys and has flags %#x", p.id, p.flags)
		}
		if p.length < pageHeader+int64(p.count)*pageElement {
			return fmt.Errorf("page %d is too small for its %d entries", p.id, p.count)
		}
		b, err := w.read(p.id, 0, p.length)
		if err != nil {
			return err
		}
		below, err := elements(b, p.flags, p.count, now)
		if err != nil {
			return fmt.Errorf("page %d: %w", p.id, err)
		}
		todo = append(todo, below...)
	}
	return nil
}

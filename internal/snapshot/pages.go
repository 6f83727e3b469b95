// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
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

// pagesMeta is the content of a meta page. A database begins with two of them.
type pagesMeta struct {
	pageSize                  uint32
	root, freelist, end, txid uint64
}

// readMeta returns the newest valid meta page.
func readMeta(r io.ReaderAt, size int64) (pagesMeta, error) {
	var best pagesMeta
	first, err := metaAt(r, 0)
	if err == nil {
		best = first
	}
	// If the first page is invalid, the page size is unknown. bbolt tries the same ones.
	for pageSize := int64(1024); pageSize <= 1024<<14; pageSize *= 2 {
		if m, err := metaAt(r, pageSize); err == nil && int64(m.pageSize) == pageSize && (best.pageSize == 0 || m.txid > best.txid) {
			best = m
		}
	}
	switch {
	case best.pageSize == 0:
		return best, errors.New("it is not a bbolt database: neither of its first two pages is valid")
	case best.pageSize < 1024 || best.pageSize&(best.pageSize-1) != 0:
		return best, fmt.Errorf("it is not a bbolt database: its page size is %d bytes", best.pageSize)
	case best.end > uint64(size)/uint64(best.pageSize): //nolint:gosec // never negative
		return best, fmt.Errorf("it is truncated: it should have %d pages of %d bytes and has only %d bytes", best.end, best.pageSize, size)
	}
	return best, nil
}

// metaAt returns the meta page at an offset, or an error if there is no valid one.
func metaAt(r io.ReaderAt, at int64) (pagesMeta, error) {
	b := make([]byte, metaSize)
	if _, err := r.ReadAt(b, at+pageHeader); err != nil {
		return pagesMeta{}, err
	}
	order := binary.NativeEndian
	sum := fnv.New64a()
	_, _ = sum.Write(b[:metaSumAt]) // never fails
	if order.Uint32(b) != metaMagic || order.Uint32(b[4:]) != metaVersion || order.Uint64(b[metaSumAt:]) != sum.Sum64() {
		return pagesMeta{}, errors.New("not a meta page")
	}
	return pagesMeta{
		pageSize: order.Uint32(b[8:]),
		root:     order.Uint64(b[16:]), freelist: order.Uint64(b[32:]), end: order.Uint64(b[40:]), txid: order.Uint64(b[48:]),
	}, nil
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

// elements checks that the entries of a page are inside the page and in order. It returns
// the subtrees that they reference. b begins with the header of the page.
func elements(b []byte, flags uint16, count int, within subtree) ([]subtree, error) {
	keys := rising{last: within.least, end: within.end}
	if flags == branchPage {
		return branches(b, count, &keys)
	}
	return leaves(b, count, &keys)
}

// rising checks that keys are in order, from last and below end.
type rising struct{ last, end []byte }

// next returns an error if the key of entry i is out of order.
func (r *rising) next(i int, key []byte) error {
	by := bytes.Compare(r.last, key)
	if by > 0 || by == 0 && i > 0 || r.end != nil && bytes.Compare(key, r.end) >= 0 {
		return fmt.Errorf("the key of entry %d is out of order", i)
	}
	r.last = key
	return nil
}

func branches(b []byte, count int, keys *rising) ([]subtree, error) {
	if count == 0 {
		return nil, errors.New("the branch page has no entries")
	}
	order := binary.NativeEndian
	var below []subtree
	for i := range count {
		at := pageHeader + i*pageElement
		e := b[at : at+pageElement]
		pos, key := uint64(order.Uint32(e)), uint64(order.Uint32(e[4:]))
		if pos+key > uint64(len(b)-at) { //nolint:gosec // e is within b
			return nil, fmt.Errorf("entry %d is outside the page", i)
		}
		from := uint64(at) + pos
		if err := keys.next(i, b[from:from+key]); err != nil {
			return nil, err
		}
		if i > 0 {
			below[i-1].end = keys.last
		}
		below = append(below, subtree{page: order.Uint64(e[8:]), least: keys.last, end: keys.end})
	}
	return below, nil
}

func leaves(b []byte, count int, keys *rising) ([]subtree, error) {
	order := binary.NativeEndian
	var below []subtree
	for i := range count {
		at := pageHeader + i*pageElement
		e := b[at : at+pageElement]
		pos, key, value := uint64(order.Uint32(e[4:])), uint64(order.Uint32(e[8:])), uint64(order.Uint32(e[12:]))
		if pos+key+value > uint64(len(b)-at) { //nolint:gosec // e is within b
			return nil, fmt.Errorf("entry %d is outside the page", i)
		}
		from := uint64(at) + pos + key
		if err := keys.next(i, b[from-key:from]); err != nil {
			return nil, err
		}
		if order.Uint32(e)&bucketElement == 0 {
			continue
		}
		roots, err := bucket(b[from : from+value])
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", i, err)
		}
		below = append(below, roots...)
	}
	return below, nil
}

// bucket checks the value of a bucket's entry. It returns the root page, or for an inline
// bucket the subtrees that its own entries reference.
func bucket(b []byte) ([]subtree, error) {
	if len(b) < bucketHeader {
		return nil, fmt.Errorf("a bucket has only %d bytes", len(b))
	}
	if root := binary.NativeEndian.Uint64(b); root != 0 {
		return []subtree{{page: root}}, nil
	}
	if len(b) < bucketHeader+pageHeader {
		return nil, fmt.Errorf("an inline bucket has only %d bytes", len(b))
	}
	inline := b[bucketHeader:]
	count := int(binary.NativeEndian.Uint16(inline[10:]))
	if flags := binary.NativeEndian.Uint16(inline[8:]); flags != leafPage || len(inline) < pageHeader+count*pageElement {
		return nil, fmt.Errorf("an inline bucket has flags %#x and %d entries in %d bytes", flags, count, len(inline))
	}
	return elements(inline, leafPage, count, subtree{})
}

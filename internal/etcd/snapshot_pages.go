// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

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
	manyFree      = 0xFFFF // a count that stands in the first entry instead
)

// checkPages follows every page that a database refers to, from its root, and
// finds those that can't be read, and keys that are out of order. bbolt reads a
// database as memory, and a page number that points nowhere would end this process
// before its own check could say so; so would keys out of order in a database without a
// list of free pages, as etcd's are. It judges no content.
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

// pagesMeta is what a database says of itself on its first two pages.
type pagesMeta struct {
	pageSize                  uint32
	root, freelist, end, txid uint64
}

// readMeta finds the newer of the valid ones of the two meta pages.
func readMeta(r io.ReaderAt, size int64) (pagesMeta, error) {
	var best pagesMeta
	first, err := metaAt(r, 0)
	if err == nil {
		best = first
	}
	// Where the first is broken the page size is not known: bbolt tries these too.
	for pageSize := int64(1024); pageSize <= 1024<<14; pageSize *= 2 {
		if m, err := metaAt(r, pageSize); err == nil && int64(m.pageSize) == pageSize && (best.pageSize == 0 || m.txid > best.txid) {
			best = m
		}
	}
	switch {
	case best.pageSize == 0:
		return best, errors.New("it is no bbolt database: neither of its first two pages is valid")
	case best.pageSize < 1024 || best.pageSize&(best.pageSize-1) != 0:
		return best, fmt.Errorf("it is no bbolt database: pages of %d bytes", best.pageSize)
	case best.end > uint64(size)/uint64(best.pageSize): //nolint:gosec // never negative
		return best, fmt.Errorf("it is cut off: %d pages of %d bytes, and only %d bytes", best.end, best.pageSize, size)
	}
	return best, nil
}

func metaAt(r io.ReaderAt, at int64) (pagesMeta, error) {
	b := make([]byte, metaSize)
	if _, err := r.ReadAt(b, at+pageHeader); err != nil {
		return pagesMeta{}, err
	}
	order := binary.NativeEndian
	sum := fnv.New64a()
	_, _ = sum.Write(b[:metaSumAt]) // never fails
	if order.Uint32(b) != metaMagic || order.Uint32(b[4:]) != metaVersion || order.Uint64(b[metaSumAt:]) != sum.Sum64() {
		return pagesMeta{}, errors.New("no meta page")
	}
	return pagesMeta{
		pageSize: order.Uint32(b[8:]),
		root:     order.Uint64(b[16:]), freelist: order.Uint64(b[32:]), end: order.Uint64(b[40:]), txid: order.Uint64(b[48:]),
	}, nil
}

// pageWalk visits pages, each once.
type pageWalk struct {
	r    io.ReaderAt
	meta pagesMeta
	seen map[uint64]bool
}

// page is one page with those that it overflows into.
type page struct {
	id     uint64
	flags  uint16
	count  int
	length int64
}

func (w *pageWalk) page(id uint64) (page, error) {
	if id < 2 || id >= w.meta.end {
		return page{}, fmt.Errorf("page %d is referred to and there are %d", id, w.meta.end)
	}
	if w.seen[id] {
		return page{}, fmt.Errorf("page %d is referred to twice", id)
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
		return page{}, fmt.Errorf("page %d calls itself page %d", id, own)
	}
	if pages > w.meta.end-id {
		return page{}, fmt.Errorf("page %d goes on over %d pages, and there are %d", id, pages, w.meta.end)
	}
	for next := id + 1; next < id+pages; next++ {
		if w.seen[next] {
			return page{}, fmt.Errorf("page %d is referred to twice", next)
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
		return fmt.Errorf("page %d lists %d free pages and has no room for them", p.id, need)
	}
	return nil
}

// subtree is a page with the keys that may stand in it and below: from least on, and
// below the end, nil for any.
type subtree struct {
	page       uint64
	least, end []byte
}

// tree visits all pages below one, without recursion: what is broken may be deep.
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
			return fmt.Errorf("page %d has no room for its %d entries", p.id, p.count)
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

// elements checks that the entries of a page are within it and in order, and returns
// the pages that they refer to. A page begins with its header.
func elements(b []byte, flags uint16, count int, within subtree) ([]subtree, error) {
	keys := rising{last: within.least, end: within.end}
	if flags == branchPage {
		return branches(b, count, &keys)
	}
	return leaves(b, count, &keys)
}

// rising are keys that have to be in order, the first at least last, all below end.
type rising struct{ last, end []byte }

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
		return nil, errors.New("a branch without entries")
	}
	order := binary.NativeEndian
	var below []subtree
	for i := range count {
		at := pageHeader + i*pageElement
		e := b[at : at+pageElement]
		pos, key := uint64(order.Uint32(e)), uint64(order.Uint32(e[4:]))
		if pos+key > uint64(len(b)-at) { //nolint:gosec // e is within b
			return nil, fmt.Errorf("entry %d lies outside", i)
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
			return nil, fmt.Errorf("entry %d lies outside", i)
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

// bucket checks a bucket's entry: where its pages begin, or those of its
// entries that stand in the entry itself.
func bucket(b []byte) ([]subtree, error) {
	if len(b) < bucketHeader {
		return nil, fmt.Errorf("a bucket of %d bytes", len(b))
	}
	if root := binary.NativeEndian.Uint64(b); root != 0 {
		return []subtree{{page: root}}, nil
	}
	if len(b) < bucketHeader+pageHeader {
		return nil, fmt.Errorf("an inline bucket of %d bytes", len(b))
	}
	inline := b[bucketHeader:]
	count := int(binary.NativeEndian.Uint16(inline[10:]))
	if flags := binary.NativeEndian.Uint16(inline[8:]); flags != leafPage || len(inline) < pageHeader+count*pageElement {
		return nil, fmt.Errorf("an inline bucket with flags %#x and %d entries in %d bytes", flags, count, len(inline))
	}
	return elements(inline, leafPage, count, subtree{})
}

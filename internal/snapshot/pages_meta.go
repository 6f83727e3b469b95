// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
)

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

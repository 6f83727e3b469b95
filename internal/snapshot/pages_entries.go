// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

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
